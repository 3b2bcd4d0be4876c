import { findNetwork } from '../http/addresses.ts';
import { sentCookies } from '../http/cookies.ts';
import { page } from '../pages/words.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import { AuthorizationPageError } from '../errors.ts';
import { callerAddress } from '../host/host.ts';
import type { Server } from '../server.ts';
import type { Received } from './interaction.ts';

/** The parameters of a request, as the client sent them. */
export type SentParameters = readonly (readonly [name: string, value: string])[];

export interface RequestToWait {
  readonly sent: SentParameters;
  /** True if the client sent the request directly to the server. */
  readonly direct: boolean;
  /** Defaults to a new id. */
  readonly requestId?: string;
  readonly received?: Received | undefined;
}

export interface BegunWaiting {
  readonly requestId: string;
  readonly cookies: readonly string[];
}

export interface WaitingInBrowser {
  readonly sent: SentParameters;
  readonly direct: boolean;
  readonly received: Received;
  readonly cookies: readonly string[];
  /** Removes the request from the store, if it is there. */
  end(): Promise<void>;
}

const PREFIX = 'portico_request_';
const REQUEST_ID = /^[A-Za-z0-9_-]{43}$/;

/**
 * The maximum size of a cookie's name and value together, in bytes. Browsers accept 4096 bytes per
 * cookie. All headers together may have 16 KiB in Node, and a line 8 KiB in nginx. The host's own
 * cookies need part of this space.
 */
const LARGEST_COOKIE = 3500;
const MOST_COOKIES = 8;
const MOST_BYTES = 6144;

/** The space that waiting and pushed requests may use in the store, in bytes. */
export const WAITING_BUDGET = { total: 8 * 1024 * 1024, ofOneNetwork: 1024 * 1024 } as const;
/** The approximate size of a stored request, without its parameters, in bytes. */
export const ROW_BYTES = 300;
/** The `Retry-After` value if the budget is full, in seconds. */
const TRY_AGAIN = 60;

interface WaitingCookie {
  readonly name: string;
  /** The size of the cookie's name and value together, in bytes. */
  readonly bytes: number;
  /**
   * Contains the parameters, or a secret that finds them in the store. Null if the cookie has
   * expired, or if Portico did not create it.
   */
  readonly opened: Opened | null;
}

interface Opened {
  readonly createdAt: number;
  readonly content: SentParameters | string;
  readonly direct: boolean;
  readonly isBack: boolean;
}

/** The content of a cookie. False flags at the end are omitted. */
type Sealed = [createdAt: number, content: SentParameters | string, direct?: 0 | 1, isBack?: 1];

/**
 * Keeps authorization requests until a user has signed in (AS-7.13, AS-7.14).
 *
 * Anyone can send a request, so Portico keeps it in an encrypted cookie in the browser. The
 * cookie's name contains the request's id. Portico stores a longer request itself, within a budget.
 * The cookie then contains only a secret for this stored request.
 */
export class WaitingRequests {
  readonly #server: Server;
  readonly #prefix: string;
  /**
   * The cookies' `Path` is the authorization endpoint. In other requests, they would waste space.
   */
  readonly #attributes: string;

  constructor(server: Server) {
    this.#server = server;
    const secure = server.issuer.startsWith('https:');
    this.#prefix = `${secure ? '__Secure-' : ''}${PREFIX}`;
    this.#attributes = `Path=${server.paths.authorize}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /**
   * Keeps a request until `consent_ttl` seconds after it first arrived. Removes the browser's
   * oldest requests if there are too many. Throws a page error if the request fits neither in a
   * cookie nor in the store's budget.
   */
  async begin(request: Request, waits: RequestToWait): Promise<BegunWaiting> {
    const { requestId = randomToken() } = waits;
    const name = this.#prefix + requestId;
    const value = await this.#sealed(name, request, waits);
    const others = (await this.#readCookies(request)).filter((each) => each.name !== name);
    const surplus = surplusCookies(others, name.length + value.length);
    const cookie = `${name}=${value}; ${this.#attributes}; Max-Age=${this.#server.config.consent_ttl}`;
    return { requestId, cookies: [cookie, ...surplus.map((each) => this.#removal(each))] };
  }

  /** Returns the request with this id if it is waiting in this browser. */
  async find(request: Request, requestId: string): Promise<WaitingInBrowser | null> {
    if (!REQUEST_ID.test(requestId)) return null;
    const { store, clock } = this.#server;
    const name = this.#prefix + requestId;
    const found = (await this.#readCookies(request)).find(
      (each) => each.name === name && each.opened !== null,
    );
    if (found === undefined || found.opened === null) return null;
    const { content, direct, createdAt, isBack } = found.opened;
    const cookies = [this.#removal(name)];
    const received = { receivedAt: createdAt, isBack };
    if (typeof content !== 'string')
      return { sent: content, direct, received, cookies, end: async () => {} };
    const secretHash = tokenHash(content);
    const parameters = await store.waitingRequests.findWaitingRequest(secretHash, clock());
    if (parameters === null) return null;
    return {
      sent: JSON.parse(parameters) as SentParameters,
      direct,
      received,
      cookies,
      end: () => store.waitingRequests.endWaitingRequest(secretHash),
    };
  }

  /**
   * Returns `Set-Cookie` headers that remove this browser's surplus and expired requests, but never
   * this one. `begin` cannot count them if another site posts the form: the browser then sends no
   * cookies.
   */
  async removeSurplus(request: Request, requestId: string): Promise<readonly string[]> {
    const name = this.#prefix + requestId;
    const cookies = await this.#readCookies(request);
    const bytes = cookies.find((each) => each.name === name)?.bytes ?? 0;
    const others = cookies.filter((each) => each.name !== name);
    return surplusCookies(others, bytes).map((each) => this.#removal(each));
  }

  #removal(name: string): string {
    return `${name}=; ${this.#attributes}; Max-Age=0`;
  }

  async #readCookies(request: Request): Promise<readonly WaitingCookie[]> {
    const prefix = this.#prefix;
    const cookies: WaitingCookie[] = [];
    for (const [name, value] of sentCookies(request)) {
      if (!name.startsWith(prefix) || !REQUEST_ID.test(name.slice(prefix.length))) continue;
      cookies.push({
        name,
        bytes: name.length + value.length,
        opened: await this.#open(name, value),
      });
    }
    return cookies;
  }

  async #open(name: string, value: string): Promise<Opened | null> {
    const { sealer, clock, config } = this.#server;
    const text = await sealer.open(name, value);
    if (text === null) return null;
    const [createdAt, content, direct = 0, isBack = 0] = JSON.parse(text) as Sealed;
    const isOver = createdAt + config.consent_ttl * 1000 <= clock();
    return isOver ? null : { createdAt, content, direct: direct === 1, isBack: isBack === 1 };
  }

  /** Returns the cookie value: the request, or a secret if the request is in the store. */
  async #sealed(name: string, request: Request, waits: RequestToWait): Promise<string> {
    const { sealer, clock } = this.#server;
    const { sent, direct, received } = waits;
    const createdAt = received?.receivedAt ?? clock();
    const flags = received?.isBack === true ? [direct ? 1 : 0, 1] : direct ? [1] : [];
    const containing = (content: SentParameters | string) =>
      JSON.stringify([createdAt, content, ...flags]);
    const whole = containing(sent);
    if (whole.length < LARGEST_COOKIE) {
      const value = await sealer.seal(name, whole);
      if (name.length + value.length <= LARGEST_COOKIE) return value;
    }
    return sealer.seal(name, containing(await this.#saveInStore(request, sent)));
  }

  async #saveInStore(request: Request, sent: SentParameters): Promise<string> {
    const { store, host, pruning, clock, config } = this.#server;
    const parameters = JSON.stringify(sent);
    const secret = randomToken();
    const saved = await store.waitingRequests.keepWaitingRequest(
      {
        secretHash: tokenHash(secret),
        network: findNetwork(callerAddress(host, request)) ?? '',
        parameters,
        bytes: Buffer.byteLength(parameters) + ROW_BYTES,
        expiresAt: clock() + config.consent_ttl * 1000,
      },
      WAITING_BUDGET,
      clock(),
    );
    if (!saved) throw noRoom();
    await pruning.tick();
    return secret;
  }
}

/**
 * Returns the names of the cookies to remove so that a new cookie of this size fits. Always removes
 * unreadable and expired cookies, and then the oldest ones while there is not enough room.
 */
function surplusCookies(cookies: readonly WaitingCookie[], bytes: number): readonly string[] {
  const createdAt = ({ opened }: WaitingCookie) => opened?.createdAt ?? 0;
  let room = MOST_BYTES - bytes;
  let places = MOST_COOKIES - 1;
  return cookies
    .toSorted((one, other) => createdAt(other) - createdAt(one))
    .flatMap((cookie) => {
      room -= cookie.bytes;
      places -= 1;
      return cookie.opened === null || room < 0 || places < 0 ? [cookie.name] : [];
    });
}

function noRoom(): AuthorizationPageError {
  return new AuthorizationPageError(
    page('error.too_many_waiting'),
    'too many long requests are waiting for people to sign in',
    { retryAfter: TRY_AGAIN },
  );
}
