import { networkOf } from '../http/addresses.ts';
import { sentCookies } from '../http/cookies.ts';
import { page } from '../words/words.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import { AuthorizationPageError } from '../errors.ts';
import { callerAddress, type CompleteHost } from '../host.ts';
import type { Pruning } from '../store/pruning.ts';
import type { WaitingRequestRecords } from '../store/sql/waiting-requests.ts';
import type { Sealer } from '../server.ts';

/**
 * Authorization requests that wait until a person has signed in (AS-7.13, AS-7.14). Anyone can send
 * one, so the server stores nothing: the browser keeps it, in an encrypted cookie named by the
 * request's id. A request that is too long for a cookie goes to the store, within a budget, and the
 * cookie has the secret that finds it there.
 */
export interface WaitingRequests {
  /**
   * Lets a request wait for `consent_ttl`. Throws a page error if the store has no room for a long
   * one.
   */
  begin(request: Request, waits: RequestToWait): Promise<BegunWaiting>;
  /** The request with this id that waits in this browser, or null. */
  find(request: Request, requestId: string): Promise<WaitingInBrowser | null>;
  /**
   * `Set-Cookie` headers that remove the cookies over the limits, but never this request's: a form
   * that another site posts comes without the browser's cookies, so `begin` could not count the
   * existing ones.
   */
  removeSurplus(request: Request, requestId: string): Promise<readonly string[]>;
}

/** Names and values of the parameters, as they were sent. */
export type SentParameters = readonly (readonly [name: string, value: string])[];

export interface RequestToWait {
  readonly sent: SentParameters;
  /** Whether the client itself sent it. */
  readonly direct: boolean;
  /** Its existing id; a new one unless given. */
  readonly requestId?: string;
}

export interface BegunWaiting {
  readonly requestId: string;
  /** The `Set-Cookie` headers for the response. */
  readonly cookies: readonly string[];
}

export interface WaitingInBrowser {
  readonly sent: SentParameters;
  readonly direct: boolean;
  /** Removes the cookie. */
  readonly cookies: readonly string[];
  /** Removes what the store holds of the request. */
  end(): Promise<void>;
}

export interface WaitingRequestsOptions {
  readonly store: WaitingRequestRecords;
  readonly sealer: Sealer;
  readonly host: Pick<CompleteHost, 'clientAddress'>;
  readonly pruning: Pick<Pruning, 'tick'>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** `consent_ttl`, in seconds. */
  readonly lifetime: number;
  /** The only path that gets the cookies: in every other request they would just take room. */
  readonly path: string;
  /** Over https the cookies are `Secure`. */
  readonly issuer: string;
}

const PREFIX = 'portico_request_';
const REQUEST_ID = /^[A-Za-z0-9_-]{43}$/;

/**
 * In bytes of name and value. Browsers keep 4096 for a cookie. Node accepts 16 KiB of headers in
 * all, nginx 8 KiB in one line, which the host's own cookies share.
 */
const LARGEST_COOKIE = 3500;
const MOST_COOKIES = 8;
const MOST_BYTES = 6144;

/**
 * The most bytes that the store keeps of waiting and pushed requests: in total, and from one
 * network.
 */
export const WAITING_BUDGET = { total: 8 * 1024 * 1024, ofOneNetwork: 1024 * 1024 } as const;
/** The approximate size of a row without the parameters. */
export const ROW_BYTES = 300;
/** The `Retry-After` when the budget is used up, in seconds. */
const TRY_AGAIN = 60;

interface WaitingCookie {
  readonly name: string;
  /** Of name and value. */
  readonly bytes: number;
  /**
   * Null if it is not ours, or has expired. The content is the parameters, or the secret that finds
   * them in the store.
   */
  readonly opened: Opened | null;
}

interface Opened {
  readonly createdAt: number;
  readonly content: SentParameters | string;
  readonly direct: boolean;
}

export function createWaitingRequests(options: WaitingRequestsOptions): WaitingRequests {
  const { store, sealer, host, pruning, clock, lifetime, path, issuer } = options;
  const secure = issuer.startsWith('https:');
  const prefix = `${secure ? '__Secure-' : ''}${PREFIX}`;
  const attributes = `Path=${path}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const removal = (name: string) => `${name}=; ${attributes}; Max-Age=0`;

  async function readCookies(request: Request): Promise<readonly WaitingCookie[]> {
    const cookies: WaitingCookie[] = [];
    for (const [name, value] of sentCookies(request)) {
      if (!name.startsWith(prefix) || !REQUEST_ID.test(name.slice(prefix.length))) continue;
      cookies.push({ name, bytes: name.length + value.length, opened: await open(name, value) });
    }
    return cookies;
  }

  async function open(name: string, value: string): Promise<WaitingCookie['opened']> {
    const text = await sealer.open(name, value);
    if (text === null) return null;
    const [createdAt, content, direct = 0] = JSON.parse(text) as [number, SentParameters | string, 1?];
    return createdAt + lifetime * 1000 <= clock() ? null : { createdAt, content, direct: direct === 1 };
  }

  /**
   * The cookie's value: the request itself, or for a long one the secret that finds it in the
   * store.
   */
  async function sealed(
    name: string,
    request: Request,
    { sent, direct }: Omit<RequestToWait, 'requestId'>,
  ): Promise<string> {
    const now = clock();
    const containing = (content: SentParameters | string) =>
      JSON.stringify(direct ? [now, content, 1] : [now, content]);
    const whole = containing(sent);
    if (whole.length < LARGEST_COOKIE) {
      const value = await sealer.seal(name, whole);
      if (name.length + value.length <= LARGEST_COOKIE) return value;
    }
    return sealer.seal(name, containing(await saveInStore(request, sent)));
  }

  async function saveInStore(request: Request, sent: SentParameters): Promise<string> {
    const parameters = JSON.stringify(sent);
    const secret = randomToken();
    const saved = await store.keepWaitingRequest(
      {
        secretHash: tokenHash(secret),
        network: networkOf(callerAddress(host, request)) ?? '',
        parameters,
        bytes: Buffer.byteLength(parameters) + ROW_BYTES,
        expiresAt: clock() + lifetime * 1000,
      },
      WAITING_BUDGET,
      clock(),
    );
    if (!saved) throw noRoom();
    await pruning.tick();
    return secret;
  }

  return {
    async begin(request, { requestId = randomToken(), ...waits }) {
      const name = prefix + requestId;
      const value = await sealed(name, request, waits);
      const others = (await readCookies(request)).filter((each) => each.name !== name);
      const surplus = surplusCookies(others, name.length + value.length);
      const cookie = `${name}=${value}; ${attributes}; Max-Age=${lifetime}`;
      return { requestId, cookies: [cookie, ...surplus.map(removal)] };
    },
    async find(request, requestId) {
      if (!REQUEST_ID.test(requestId)) return null;
      const name = prefix + requestId;
      const found = (await readCookies(request)).find((each) => each.name === name && each.opened !== null);
      if (found === undefined || found.opened === null) return null;
      const { content, direct } = found.opened;
      const cookies = [removal(name)];
      if (typeof content !== 'string') return { sent: content, direct, cookies, end: async () => {} };
      const secretHash = tokenHash(content);
      const parameters = await store.findWaitingRequest(secretHash, clock());
      if (parameters === null) return null;
      return {
        sent: JSON.parse(parameters) as SentParameters,
        direct,
        cookies,
        end: () => store.endWaitingRequest(secretHash),
      };
    },
    async removeSurplus(request, requestId) {
      const name = prefix + requestId;
      const cookies = await readCookies(request);
      const bytes = cookies.find((each) => each.name === name)?.bytes ?? 0;
      const others = cookies.filter((each) => each.name !== name);
      return surplusCookies(others, bytes).map(removal);
    },
  };
}

/**
 * Which cookies to remove to make room for one of this many bytes: unreadable ones, then the
 * oldest.
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
    'the budget for long requests of people who are not signed in is used up',
    { retryAfter: TRY_AGAIN },
  );
}
