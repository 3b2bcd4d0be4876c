import type { WaitingFor, WithHeaders } from './waiting-for.ts';
import { cookieNameBelow } from '../http/base-path.ts';
import { cookiesIn } from '../http/cookies.ts';
import type { Words } from '../pages/words.ts';
import type { ClientSource } from '../clients/client-source.ts';
import type { Clients } from '../clients/clients.ts';
import { unverified } from '../clients/who-asks.ts';
import type { Client } from '../store/client.ts';
import type { Server } from '../server.ts';
import type { SentParameters } from './waiting-requests.ts';

export interface SignInNote {
  readonly loginUrl: string;
  readonly requestId: string;
  readonly sent: SentParameters;
  /** If null, `cookies` looks up the client. */
  readonly client: Client | null;
  readonly words: Words;
}

type Noted = readonly [createdAt: number, requestId: string, waiting: WaitingFor];

/**
 * Stores data about a waiting authorization request for the sign-in page.
 *
 * The request's own cookie goes only to `/oauth/authorize`. So a second encrypted cookie carries
 * the data to the sign-in page. The browser keeps this cookie only for its latest request. An older
 * sign-in page that is reloaded shows nothing about its request.
 */
export class SignInNotes {
  readonly #server: Server;
  readonly #clients: Clients;
  readonly #clientSource: ClientSource | null;
  readonly #secure: boolean;
  readonly #name: string;

  constructor(server: Server, clients: Clients, clientSource: ClientSource | null) {
    this.#server = server;
    this.#clients = clients;
    this.#clientSource = clientSource;
    this.#secure = server.issuer.startsWith('https:');
    this.#name = `${this.#secure ? '__Secure-' : ''}${cookieNameBelow(server.basePath, 'portico_sign_in')}`;
  }

  /**
   * Returns the `Set-Cookie` headers. Empty if the sign-in page is on another origin, or if the
   * client is unknown.
   */
  async cookies({
    loginUrl,
    requestId,
    sent,
    client,
    words,
  }: SignInNote): Promise<readonly string[]> {
    const { sealer, clock, config } = this.#server;
    const path = this.#pathOf(loginUrl);
    const parameters = new Map(sent);
    const asks = path === null ? null : await this.#whoAsks(parameters, client, words);
    if (asks === null) return [];
    const waiting: WaitingFor = {
      ...asks,
      loginHint: parameters.get('login_hint') ?? null,
      uiLocales: parameters.get('ui_locales')?.split(' ') ?? [],
    };
    const noted: Noted = [clock(), requestId, waiting];
    const value = await sealer.seal(this.#name, JSON.stringify(noted));
    const attributes = `Path=${path}; HttpOnly; SameSite=Lax${this.#secure ? '; Secure' : ''}`;
    return [`${this.#name}=${value}; ${attributes}; Max-Age=${config.consent_ttl}`];
  }

  /** Returns what this browser stores about the request whose id is in `returnTo`, or null. */
  async find(
    request: WithHeaders,
    returnTo: string | null | undefined,
  ): Promise<WaitingFor | null> {
    const { sealer, clock, config, paths } = this.#server;
    const requestId = requestIdIn(returnTo, paths.authorize);
    if (requestId === null) return null;
    for (const [sentName, value] of cookiesIn(cookieHeader(request))) {
      const text = sentName === this.#name ? await sealer.open(sentName, value) : null;
      if (text === null) continue;
      const [createdAt, about, waiting] = JSON.parse(text) as Noted;
      if (about === requestId && createdAt + config.consent_ttl * 1000 > clock()) return waiting;
    }
    return null;
  }

  async #whoAsks(
    sent: ReadonlyMap<string, string>,
    known: Client | null,
    words: Words,
  ): Promise<{ readonly clientName: string; readonly isVerified: boolean } | null> {
    const clientId = sent.get('client_id') ?? '';
    // Show the host of the URL. The name is in the document, which the server does not fetch before
    // sign-in.
    if (this.#clientSource?.names(clientId) === true)
      return { clientName: new URL(clientId).host, isVerified: false };
    const client = known ?? (await this.#clients.find(clientId));
    if (client === null) return null;
    const { name: serverName } = this.#server.config;
    const asked = unverified(client, sent.get('redirect_uri') ?? '', serverName, words);
    return { clientName: asked?.asks ?? client.name, isVerified: asked === null };
  }

  /**
   * Returns the path of the sign-in page, for the cookie's `Path`. Null if the page is on another
   * origin.
   */
  #pathOf(loginUrl: string): string | null {
    const { origin } = this.#server;
    if (!URL.canParse(loginUrl, origin)) return null;
    const url = new URL(loginUrl, origin);
    return url.origin === origin && !url.pathname.includes(';') ? url.pathname : null;
  }
}

const LONGEST_PATH = 4000;

/**
 * Returns the `request_id` in this relative URL to the authorization endpoint. Returns null for any
 * other URL.
 */
function requestIdIn(returnTo: string | null | undefined, authorizePath: string): string | null {
  const here = 'https://host.invalid';
  // The text may come from a form. A very long host would take seconds to parse.
  if (typeof returnTo !== 'string' || returnTo.length > LONGEST_PATH) return null;
  if (!URL.canParse(returnTo, here)) return null;
  const url = new URL(returnTo, here);
  return url.origin === here && url.pathname === authorizePath
    ? url.searchParams.get('request_id')
    : null;
}

function cookieHeader({ headers }: WithHeaders): string {
  const sent =
    headers instanceof Headers
      ? headers.get('cookie')
      : (headers as Record<string, unknown>)['cookie'];
  return typeof sent === 'string' ? sent : '';
}
