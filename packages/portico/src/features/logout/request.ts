import type { Visitor } from '../../accounts.ts';
import { findAuthentication } from '../../authorization/authentication.ts';
import type { Clients } from '../../clients/clients.ts';
import { isVerified } from '../../clients/who-asks.ts';
import { AuthorizationPageError } from '../../errors.ts';
import type { Parameters } from '../../parameters.ts';
import { quoted, quotedUri } from '../../quoting.ts';
import { noteClient } from '../../refusals.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { page } from '../../words/words.ts';
import { IdTokenHints } from './hints.ts';

/** The field of a client's metadata with the URIs that people may return to. */
export const REDIRECT_URIS = 'post_logout_redirect_uris';

/** The parts of a request that are kept in a sealed text while a person decides. */
export interface KeptRequest {
  /** The client that asks. Null if that is unknown. */
  readonly clientId: string | null;
  /** Whose ID token the client sent. Null without a valid one. */
  readonly subject: string | null;
  /** When the ID token was issued, in seconds since 1970. Null without a valid one. */
  readonly issuedAt: number | null;
  /** Where the browser goes afterwards, with `state`. Null for a page of this server. */
  readonly redirectUri: string | null;
  readonly state: string | null;
  /** Whether the session has been ended for this request. */
  readonly isDone: boolean;
  /** When the client asked, in milliseconds since 1970. */
  readonly askedAt: number;
}

/** A valid request to sign out. */
export interface LogoutRequest extends KeptRequest {
  /** The name of the client, if an operator registered it. Otherwise null. */
  readonly clientName: string | null;
  /** Whether an operator registered the client. Otherwise, anyone may have. */
  readonly isVerified: boolean;
}

/** The most bytes of each, so that both fit in the address of a page. */
const LONGEST = { state: 2000, post_logout_redirect_uri: 6000 } as const;

/** Checks requests to sign out (RP-Initiated Logout section 2). */
export class LogoutRequests {
  readonly #server: Server;
  readonly #clients: Clients;
  readonly #hints: IdTokenHints;

  constructor(server: Server, clients: Clients) {
    this.#server = server;
    this.#clients = clients;
    this.#hints = new IdTokenHints(server, clients);
  }

  /**
   * Throws the error page for a client or a URI that is not registered: the browser is not sent
   * anywhere. A hint that is not valid proves nothing, so the browser is not sent on either.
   */
  async read(request: Request, parameters: Parameters): Promise<LogoutRequest> {
    const sent = parameters.get('id_token_hint');
    const hint = sent === undefined ? null : await this.#hints.read(sent);
    const clientId = parameters.get('client_id');
    const client = clientId === undefined ? (hint?.client ?? null) : await this.#find(clientId);
    if (hint !== null && hint.client.id !== client?.id)
      throw notValid('the id_token_hint is for another client than client_id');
    if (client !== null) noteClient(request, client.id);
    requireShort(parameters);
    const redirectUri = parameters.get('post_logout_redirect_uri') ?? null;
    if (redirectUri !== null) await this.#requireRegistered(client, redirectUri);
    const isTrusted = sent === undefined || hint !== null;
    return {
      ...about(client),
      subject: hint?.subject ?? null,
      issuedAt: hint?.issuedAt ?? null,
      redirectUri: isTrusted ? redirectUri : null,
      state: parameters.get('state') ?? null,
      isDone: false,
      askedAt: this.#server.clock(),
    };
  }

  /**
   * Checks a kept request again. Throws the error page if it is too old, or if its client or URI
   * has ended since. If the session has been ended for it, it only leads nowhere any more.
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
    throw notValid('the client or its post_logout_redirect_uri has ended since the request');
  }

  /**
   * Whether the client sent an ID token of this person and this session, and may still act for the
   * person. An older token may be in the wrong hands by now.
   */
  async proves(
    { subject, issuedAt, clientId }: LogoutRequest,
    { user, request }: Visitor,
  ): Promise<boolean> {
    if (subject === null || issuedAt === null) return false;
    const { store, clock } = this.#server;
    if ((await store.subjects.findSubject(user.reference)) !== subject) return false;
    const known = await findAuthentication(this.#server, request);
    if (known !== null && issuedAt < Math.floor(known.at / 1000)) return false;
    const living = await store.authorizations.listAuthorizations(user.reference, clock());
    return living.some(({ family }) => family.clientId === clientId);
  }

  async #find(clientId: string): Promise<Client> {
    const client = await this.#clients.find(clientId);
    if (client === null || client.revokedAt !== null)
      throw notValid(`no living client has the client_id ${quoted(clientId)}`);
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
      throw notValid(`the ${name} has more than ${most} bytes`);
}

/** Returns the page for a sealed request that is not valid any more. */
export function tooOld(): AuthorizationPageError {
  return notValid('the request is older than consent_ttl, or was not sealed here');
}

/** Returns the page for a request that must not lead anywhere. */
function notValid(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('logout.not_valid'), detail);
}
