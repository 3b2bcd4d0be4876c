import { canonicalAddress, networkOf } from '../http/addresses.ts';
import { onBehalfOf } from '../http/caller.ts';
import { OAuthError, TooManyFailuresError } from './errors.ts';
import type { Parameters } from './parameters.ts';
import { noteClient, quotedClientId } from './refusals.ts';
import type { ServerContext } from './server-context.ts';
import type { Client } from './store/store.ts';
import { tokenHash } from './crypto.ts';

/** How clients authenticate at the token endpoint, by the names of RFC 7591; `none` is for public clients. */
export const CLIENT_AUTHENTICATION_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

interface Credentials {
  readonly clientId: string;
  /** Null when only the client id was sent. */
  readonly secret: string | null;
}

/** Failures of one client from one network, and of all clients from one network, before anything slows down. */
const FREE_FAILURES = { client: 5, address: 50 } as const;

/**
 * The client that sent this request: authenticated by its secret when it is confidential, identified by its id when
 * it is public (RFC 6749 sections 2.3 and 3.2.1). Throws `invalid_client`, `invalid_request` for credentials sent twice,
 * and a TooManyFailuresError after many failures, except for a secret that was right before.
 */
export async function authenticateClient(
  request: Request,
  form: Parameters,
  context: ServerContext,
): Promise<Client> {
  const { clientId, secret } = credentialsOf(request, form);
  const client = await context.clients.find(clientId);
  if (client !== null) noteClient(request, client.id);
  const living = client !== null && client.revokedAt === null ? client : null;
  if (secret === null) {
    if (living === null) throw unauthenticated(unknownClient(clientId, client));
    if (!living.public) throw unauthenticated('no secret came with the id of a confidential client');
    return living;
  }
  if (living !== null && (await context.clientSecrets.isKnown(living, secret))) return living;

  const address = addressOf(request, context);
  const network = networkOf(address);
  // An id that nobody has is counted by a hash: what was sent may be long, and there may be many.
  const keys = [
    { key: JSON.stringify([client?.id ?? tokenHash(clientId), network]), free: FREE_FAILURES.client },
    { key: JSON.stringify([network]), free: FREE_FAILURES.address },
  ];
  const verify = () => context.clientSecrets.verify(living, secret);
  const judged = await context.failedAttempts.attempt(keys, async () =>
    (await onBehalfOf(network, verify)) ? living : null,
  );
  if (judged.outcome === 'right') return judged.value;
  const who = { clientId: client?.id ?? null, address };
  if (judged.outcome === 'slowed') {
    if (judged.first) await context.audit({ type: 'client_authentication_slowed', ...who });
    throw new TooManyFailuresError(judged.wait);
  }
  await context.audit({ type: 'client_authentication_failed', ...who });
  throw unauthenticated(
    living === null ? unknownClient(clientId, client) : wrongSecret(living, context.clock()),
  );
}

/** What a host says is no IP address is not known: it may be another one with every request, as a port is. */
export function addressOf(request: Request, { host }: ServerContext): string | null {
  const said = host.clientAddress(request);
  return said === null ? null : canonicalAddress(said);
}

function credentialsOf(request: Request, form: Parameters): Credentials {
  const basic = basicCredentials(request.headers.get('authorization'));
  const clientId = form.get('client_id');
  const secret = form.get('client_secret');
  if (basic === null) {
    if (clientId === undefined) throw unauthenticated('no client id was sent');
    return { clientId, secret: secret ?? null };
  }
  if (secret !== undefined) {
    throw new OAuthError(
      'invalid_request',
      'The client authenticates both with HTTP Basic and in the body; use one.',
    );
  }
  if (clientId !== undefined && clientId !== basic.clientId) {
    throw new OAuthError('invalid_request', 'The client_id in the body is not the one that authenticates.');
  }
  return basic;
}

/** The credentials of HTTP Basic, form-decoded (RFC 6749 section 2.3.1); null when another scheme or none is used. */
function basicCredentials(header: string | null): Credentials | null {
  const match = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header?.trim() ?? '');
  if (match?.[1] === undefined) {
    if (header !== null && /^Basic\b/i.test(header.trim())) throw unauthenticated(ILL_FORMED_BASIC);
    return null;
  }
  const text = Buffer.from(match[1], 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw unauthenticated(ILL_FORMED_BASIC);
  const clientId = formDecode(text.slice(0, colon));
  const secret = formDecode(text.slice(colon + 1));
  if (clientId === null || secret === null || clientId === '') throw unauthenticated(ILL_FORMED_BASIC);
  return { clientId, secret };
}

function formDecode(value: string): string | null {
  if (!/[%+]/.test(value)) return value;
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

const ILL_FORMED_BASIC =
  'the Authorization header is no HTTP Basic with a form-encoded client id and secret (RFC 6749 section 2.3.1)';

function unknownClient(sent: string, client: Client | null): string {
  return client === null ? `no client has the id ${quotedClientId(sent)}` : 'the client was revoked';
}

function wrongSecret({ public: isPublic, previousSecretExpiresAt }: Client, now: number): string {
  if (isPublic) return 'a secret came with the id of a public client, which has none';
  const isRotating = previousSecretExpiresAt !== null && previousSecretExpiresAt > now;
  return isRotating ? 'the secret is neither the current nor the previous one' : 'the secret is wrong';
}

function unauthenticated(detail: string): OAuthError {
  return new OAuthError('invalid_client', 'The client is unknown or could not be authenticated.', detail);
}
