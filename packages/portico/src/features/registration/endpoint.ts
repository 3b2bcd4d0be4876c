import { parseBearer } from '../../http/bearer.ts';
import { readText } from '../../http/body.ts';
import { readMediaType } from '../../http/media-types.ts';
import { authenticationMetadata } from '../../clients/client-metadata.ts';
import { BearerError, OAuthError } from '../../errors.ts';
import { callerAddress } from '../../host/host.ts';
import { queryParameters, refuseBody } from '../../parameters.ts';
import { quoted } from '../../quoting.ts';
import { noteClient } from '../../refusals.ts';
import { findSent, type SentMetadata } from './asked-metadata.ts';
import type { Registrations } from './registrations.ts';
import { jsonReply, type Reply } from '../../endpoints/replies/responses.ts';
import { furtherJson } from '../../store/further-metadata.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import type { Handler } from '../../endpoints/endpoint.ts';

/** The path below `base_path`. */
export const REGISTER_PATH = '/oauth/register';

/** The maximum size of a request body, in bytes. */
const BODY_LIMIT = 64 * 1024;

/**
 * Handles POST /oauth/register (RFC 7591). GET, PUT and DELETE need a registration access token,
 * and `client_id` in the query names the client (RFC 7592).
 */
export class RegisterEndpoint {
  readonly #registrations: Registrations;
  readonly #server: Server;

  constructor(registrations: Registrations, server: Server) {
    this.#registrations = registrations;
    this.#server = server;
  }

  readonly answer: Handler = (request) =>
    request.method === 'POST' ? this.#register(request) : this.#manage(request);

  async #register(request: Request): Promise<Reply> {
    const token = bearerToken(request);
    const sent = await readMetadata(request);
    const { host, pruning } = this.#server;
    const { client, secret, registrationAccessToken } = await this.#registrations.register(
      sent,
      token,
      callerAddress(host, request),
    );
    await pruning.tick();
    const credentials = describeSecret(secret, client.secretExpiresAt);
    const information = await this.#information(client, registrationAccessToken);
    return jsonReply({ ...information, ...credentials }, 201, NEVER_STORED);
  }

  async #manage(request: Request): Promise<Reply> {
    const token = bearerToken(request);
    if (token === null) {
      throw new BearerError('missing_token', null, {
        detail: 'no registration access token was sent',
      });
    }
    const client = await this.#registrations.find(
      queryParameters(request).get('client_id') ?? '',
      token,
    );
    noteClient(request, client.id);
    if (request.method === 'DELETE') {
      await this.#registrations.end(client);
      return { status: 204, headers: NEVER_STORED, body: null };
    }
    const address = callerAddress(this.#server.host, request);
    const sent = request.method === 'PUT' ? await readMetadata(request) : null;
    const current =
      sent === null ? client : await this.#registrations.replace(client, token, sent, address);
    const own = sent === null ? undefined : findSent(sent, 'client_secret');
    // A response to HEAD has no body, so the client would never receive a new secret.
    const given =
      request.method === 'HEAD'
        ? null
        : await this.#registrations.renewSecret(
            current,
            typeof own === 'string' ? own : null,
            address,
          );
    const credentials =
      given === null
        ? describeSecret(null, current.secretExpiresAt)
        : describeSecret(given.secret, given.expiresAt);
    return jsonReply(
      { ...(await this.#information(current, token)), ...credentials },
      200,
      NEVER_STORED,
    );
  }

  /**
   * Returns all metadata as registered, even if the client requested other values (RFC 7591 section
   * 3.2.1, RFC 7592 section 3).
   */
  async #information(client: Client, token: string): Promise<Readonly<Record<string, unknown>>> {
    const { issuer, demands, furtherMetadata } = this.#server;
    return {
      client_id: client.id,
      client_id_issued_at: Math.floor(client.createdAt / 1000),
      registration_access_token: token,
      registration_client_uri: `${issuer}${REGISTER_PATH}?client_id=${client.id}`,
      client_name: client.name,
      application_type: client.applicationType,
      redirect_uris: client.redirectUris,
      grant_types: client.grants,
      response_types: client.grants.includes('authorization_code') ? ['code'] : [],
      ...authenticationMetadata(client, demands),
      ...furtherJson(furtherMetadata.fields, await furtherMetadata.find(client.id)),
      scope: client.scopes.join(' '),
      id_token_signed_response_alg: client.idTokenSignedResponseAlg,
    };
  }
}

const NEVER_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;

/**
 * Returns the response members for a secret (RFC 7591 section 3.2.1). `secret` is null if the
 * client has none or already has it. The result then contains at most the expiry time.
 */
function describeSecret(
  secret: string | null,
  expiresAt: number | null,
): Readonly<Record<string, unknown>> {
  const seconds = Math.floor((expiresAt ?? 0) / 1000);
  if (secret !== null) return { client_secret: secret, client_secret_expires_at: seconds };
  return expiresAt === null ? {} : { client_secret_expires_at: seconds };
}

function bearerToken(request: Request): string | null {
  const credentials = parseBearer(request.headers.get('authorization'));
  if (credentials === null) return null;
  if (credentials.token === null)
    throw new BearerError('invalid_request', null, {
      detail: 'the Authorization header has the scheme Bearer, but no token',
    });
  return credentials.token;
}

async function readMetadata(request: Request): Promise<SentMetadata> {
  const type = request.headers.get('content-type');
  if (readMediaType(type) !== 'application/json') {
    throw new OAuthError(
      'invalid_request',
      'The body must be application/json.',
      type === null ? 'it has no Content-Type' : `its Content-Type is ${quoted(type)}`,
    );
  }
  const value = parseJson(await readText(request, BODY_LIMIT, refuseBody));
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as SentMetadata;
  throw new OAuthError('invalid_request', 'The body must be a JSON object.');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new OAuthError('invalid_request', 'The body is not JSON.');
  }
}
