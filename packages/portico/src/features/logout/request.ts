import type { Visitor } from '../../host/accounts.ts';
import { findAuthentication } from '../../authorization/authentication.ts';
import type { Clients } from '../../clients/clients.ts';
import { isVerified } from '../../clients/who-asks.ts';
import { AuthorizationPageError } from '../../errors.ts';
import type { Parts } from '../../feature.ts';
import type { Parameters } from '../../parameters.ts';
import { quoted, quotedUri } from '../../quoting.ts';
import { noteClient } from '../../refusals.ts';
import type { Server } from '../../server.ts';
import type { FindSid } from '../../host/session-ends.ts';
import type { Client } from '../../store/client.ts';
import { page } from '../../pages/words.ts';
import { IdTokenHints } from './hints.ts';

/** The metadata field with the URIs where browsers may go after sign-out. */
export const REDIRECT_URIS = 'post_logout_redirect_uris';

/**
 * The content of a sign-out request. Until the user decides, the browser keeps it in encrypted
 * form.
 */
export interface KeptRequest {
  /** The client that sent the request. Null if unknown. */
  readonly clientId: string | null;
  /** The `sub` of the client's ID token. Null without a valid ID token. */
  readonly subject: string | null;
  /** When the ID token was issued, in seconds since 1970. Null without a valid ID token. */
  readonly issuedAt: number | null;
  /** The `sid` of the ID token, or null. */
  readonly sid: string | null;
  /** Where the browser goes after sign-out, with `state`. Null if it stays on this server. */
  readonly redirectUri: string | null;
  readonly state: string | null;
  /** True if the server has already ended the session for this request. */
  readonly isDone: boolean;
  /** When the client sent the request, in milliseconds since 1970. */
  readonly askedAt: number;
}

/** A sign-out request that passed all checks. */
export interface LogoutRequest extends KeptRequest {
  /** The client's name. Null if no operator registered the client. */
  readonly clientName: string | null;
  /** True if an operator registered the client. Otherwise, it may have registered itself. */
  readonly isVerified: boolean;
}

/** The maximum length in bytes of JSON text. Both values must fit into the URL of a page. */
const LONGEST = { state: 2000, post_logout_redirect_uri: 6000 } as const;

/** Checks sign-out requests (RP-Initiated Logout section 2). */
export class LogoutRequests {
  readonly #server: Server;
  readonly #clients: Clients;
  readonly #hints: IdTokenHints;
  readonly #findSid: FindSid | null;

  constructor(server: Server, { clients, sid }: Parts) {
    this.#server = server;
    this.#clients = clients;
    this.#findSid = sid;
    this.#hints = new IdTokenHints(server, clients);
  }

  /**
   * Checks a sign-out request. If the client or the URI is not registered, throws an error that
   * shows a page. With an invalid hint, the request has no subject and no redirect URI, so the
   * browser stays on this server.
   */
  async read(request: Request, parameters: Parameters): Promise<LogoutRequest> {
    const sent = parameters.get('id_token_hint');
    const hint = sent === undefined ? null : await this.#hints.read(sent);
    const clientId = parameters.get('client_id');
    const client = clientId === undefined ? (hint?.client ?? null) : await this.#find(clientId);
    if (hint !== null && hint.client.id !== client?.id)
      throw notValid('the id_token_hint and the client_id name different clients');
    if (client !== null) noteClient(request, client.id);
    requireShort(parameters);
    const redirectUri = parameters.get('post_logout_redirect_uri') ?? null;
    if (redirectUri !== null) await this.#requireRegistered(client, redirectUri);
    const isTrusted = sent === undefined || hint !== null;
    return {
      ...about(client),
      subject: hint?.subject ?? null,
      issuedAt: hint?.issuedAt ?? null,
      sid: hint?.sid ?? null,
      redirectUri: isTrusted ? redirectUri : null,
      state: parameters.get('state') ?? null,
      isDone: false,
      askedAt: this.#server.clock(),
    };
  }

  /**
   * Checks a decrypted request again. If it is too old, or its client or URI no longer exists,
   * throws an error that shows a page.
   *
   * If the session has already ended for this request, the client and the URI may be missing. The
   * result then has no redirect URI.
   */
  async reopen(request: Request, kept: KeptRequest): Promise<LogoutRequest> {
    const { clock, config } = this.#server;
    if (clock() - kept.askedAt >= config.consent_ttl * 1000) throw tooOld();
    if (kept.clientId === null) return { ...kept, ...about(null) };
    noteClient(request, kept.clientId);
    const client = await this.#clients.find(kept.clientId);
    const lives = client !== null && client.revokedAt === null;
    const { redirectUri } = kept;
    if (lives && (redirectUri === null || (await this.#isRegistered(client, redirectUri))))
      return { ...kept, ...about(client) };
    if (kept.isDone) return { ...kept, ...about(null), redirectUri: null };
    throw notValid(
      'after the request, the client was revoked, or its post_logout_redirect_uri was removed',
    );
  }

  /**
   * Returns true if the client sent an ID token for this user and session, and still has access. An
   * attacker could have stolen an old token. So the token must not be older than the
   * authentication, if the host knows its time.
   */
  async proves(asked: LogoutRequest, { user, request }: Visitor): Promise<boolean> {
    const { subject, issuedAt, clientId } = asked;
    if (subject === null || issuedAt === null) return false;
    const { store, clock } = this.#server;
    if ((await store.subjects.findSubject(user.reference)) !== subject) return false;
    const known = await findAuthentication(this.#server, request);
    if (known !== null && issuedAt < Math.floor(known.at / 1000)) return false;
    if (!(await this.#isOfSession(asked, request))) return false;
    const living = await store.authorizations.listAuthorizations(user.reference, clock());
    return living.some(({ family }) => family.clientId === clientId);
  }

  /** Returns true if the ID token names the browser's session or no session. */
  async #isOfSession({ sid, clientId }: LogoutRequest, request: Request): Promise<boolean> {
    if (sid === null) return true;
    return clientId !== null && (await this.#findSid?.(request, clientId)) === sid;
  }

  async #find(clientId: string): Promise<Client> {
    const client = await this.#clients.find(clientId);
    if (client === null || client.revokedAt !== null)
      throw notValid(`no active client has the client_id ${quoted(clientId)}`);
    return client;
  }

  async #requireRegistered(client: Client | null, uri: string): Promise<void> {
    if (client === null)
      throw notValid('a post_logout_redirect_uri needs client_id or a valid id_token_hint');
    if (!(await this.#isRegistered(client, uri)))
      throw notValid(`the post_logout_redirect_uri is not registered: it is ${quotedUri(uri)}`);
  }

  async #isRegistered({ id }: Client, uri: string): Promise<boolean> {
    const { [REDIRECT_URIS]: registered = [] } = await this.#server.furtherMetadata.find(id);
    return registered.includes(uri);
  }
}

function about(
  client: Client | null,
): Pick<LogoutRequest, 'clientId' | 'clientName' | 'isVerified'> {
  const verified = client !== null && isVerified(client);
  return {
    clientId: client?.id ?? null,
    clientName: verified ? client.name : null,
    isVerified: verified,
  };
}

function requireShort(parameters: Parameters): void {
  for (const [name, most] of Object.entries(LONGEST))
    if (Buffer.byteLength(JSON.stringify(parameters.get(name) ?? '')) > most + 2)
      throw notValid(`the ${name} is longer than ${most} bytes`);
}

/** The encrypted request is no longer valid. The error shows a page. */
export function tooOld(): AuthorizationPageError {
  return notValid('the request is older than consent_ttl, or this server did not encrypt it');
}

/** The server must not redirect the browser. The error shows a page. */
export function notValid(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('logout.not_valid'), detail);
}
