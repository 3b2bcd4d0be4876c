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

/** A valid request to sign out. It is kept in a sealed text while a person decides. */
export interface LogoutRequest {
  /** The name of the client, if an operator registered it. Otherwise null. */
  readonly clientName: string | null;
  /** Whose ID token the client sent. Null without a valid one. */
  readonly subject: string | null;
  /** Where the browser goes afterwards, with `state`. Null for a page of this server. */
  readonly redirectUri: string | null;
  readonly state: string | null;
  /** Whether an operator registered the client. Otherwise, anyone may have. */
  readonly isVerified: boolean;
  /** Whether the session has been ended for this request. */
  readonly isDone: boolean;
}

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
    const redirectUri = parameters.get('post_logout_redirect_uri') ?? null;
    if (redirectUri !== null) await this.#requireRegistered(client, redirectUri);
    const isTrusted = sent === undefined || hint !== null;
    const verified = client !== null && isVerified(client);
    return {
      clientName: verified ? client.name : null,
      subject: hint?.subject ?? null,
      redirectUri: isTrusted ? redirectUri : null,
      state: parameters.get('state') ?? null,
      isVerified: verified,
      isDone: false,
    };
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
    const { [REDIRECT_URIS]: registered = [] } = await this.#server.furtherMetadata.find(client.id);
    if (!registered.includes(uri))
      throw notValid(`the post_logout_redirect_uri is not registered: it is ${quotedUri(uri)}`);
  }
}

/** Returns the page for a request that must not lead anywhere. */
export function notValid(detail: string): AuthorizationPageError {
  return new AuthorizationPageError(page('logout.not_valid'), detail);
}
