import { networkOf } from '../../http/addresses.ts';
import { AUTHORIZE_PATH } from '../endpoints/paths.ts';
import { AuthorizationPageError } from '../errors.ts';
import { callerAddress } from '../host.ts';
import type { ServerContext } from '../server-context.ts';
import { randomToken, tokenHash } from '../crypto.ts';

/**
 * Authorization requests that wait for somebody to sign in. Whoever sends one is nobody yet, so nothing is kept of it here:
 * the browser keeps it, in an encrypted cookie named by the request's id. One that is longer than a cookie may be waits in
 * the store, within a budget, and the cookie has the secret that it is found by.
 */

/** Name and value of what was sent, as it was sent. */
export type SentParameters = readonly (readonly [name: string, value: string])[];

/** A request that began to wait. */
export interface BegunWaiting {
  readonly requestId: string;
  /** The `Set-Cookie` headers that the answer must carry. */
  readonly cookies: readonly string[];
}

/** A request that waited. */
export interface EndedWaiting {
  readonly sent: SentParameters;
  /** Takes the cookie away. */
  readonly cookies: readonly string[];
  /** Takes away what the store keeps of it. */
  end(): Promise<void>;
}

const PREFIX = 'portico_request_';
const REQUEST_ID = /^[A-Za-z0-9_-]{43}$/;

/**
 * Browsers keep 4096 bytes a cookie; Node takes 16 KiB of headers in all, and nginx 8 KiB in one line, which has the host's
 * own cookies too. In bytes of name and value.
 */
const LARGEST_COOKIE = 3500;
const MOST_COOKIES = 8;
const MOST_BYTES = 6144;

/** What the store keeps of waiting requests at most, in bytes: all in all, and of one network. */
export const WAITING_BUDGET = { total: 8 * 1024 * 1024, ofOneNetwork: 1024 * 1024 } as const;
/** What a row takes beside the request itself, about. */
const ROW_BYTES = 300;
/** When somebody who found no room may try again, in seconds. */
const TRY_AGAIN = 60;

/** Lets the request wait in this browser, until somebody has signed in or `consent_ttl` is over. */
export async function beginWaiting(
  context: ServerContext,
  request: Request,
  sent: SentParameters,
): Promise<BegunWaiting> {
  const requestId = randomToken();
  const name = cookieName(context, requestId);
  const now = context.clock();
  const whole = JSON.stringify([now, sent]);
  const fitting = whole.length < LARGEST_COOKIE ? await context.cookieSealer.seal(name, whole) : null;
  const value =
    fitting !== null && name.length + fitting.length <= LARGEST_COOKIE
      ? fitting
      : await context.cookieSealer.seal(
          name,
          JSON.stringify([now, await keepInStore(context, request, sent)]),
        );
  const leaving = leavingFor(name.length + value.length, await waitingCookies(context, request));
  return {
    requestId,
    cookies: [setCookie(context, name, value), ...leaving.map((each) => takeAway(context, each))],
  };
}

/**
 * Takes away what waits in this browser beyond the few that may, but for this request: what another site sent by POST came
 * without the cookies that were there, and so took none away.
 */
export async function crowdedOut(
  context: ServerContext,
  request: Request,
  requestId: string,
): Promise<readonly string[]> {
  const kept = cookieName(context, requestId);
  const cookies = await waitingCookies(context, request);
  const bytes = cookies.find(({ name }) => name === kept)?.bytes ?? 0;
  const others = cookies.filter(({ name }) => name !== kept);
  return leavingFor(bytes, others).map((each) => takeAway(context, each));
}

/** The request of this id that waits in this browser; null when there is none. */
export async function waitingRequest(
  context: ServerContext,
  request: Request,
  requestId: string,
): Promise<EndedWaiting | null> {
  if (!REQUEST_ID.test(requestId)) return null;
  const name = cookieName(context, requestId);
  const found = (await waitingCookies(context, request)).find(
    (each) => each.name === name && each.opened !== null,
  );
  if (found === undefined || found.opened === null) return null;
  const { content } = found.opened;
  const cookies = [takeAway(context, name)];
  if (typeof content !== 'string') return { sent: content, cookies, end: async () => {} };
  const secretHash = tokenHash(content);
  const kept = await context.store.findWaitingRequest(secretHash, context.clock());
  if (kept === null) return null;
  return {
    sent: JSON.parse(kept) as SentParameters,
    cookies,
    end: () => context.store.endWaitingRequest(secretHash),
  };
}

async function keepInStore(context: ServerContext, request: Request, sent: SentParameters): Promise<string> {
  const parameters = JSON.stringify(sent);
  const secret = randomToken();
  const kept = await context.store.keepWaitingRequest(
    {
      secretHash: tokenHash(secret),
      network: networkOf(callerAddress(context.host, request)) ?? '',
      parameters,
      bytes: Buffer.byteLength(parameters) + ROW_BYTES,
      expiresAt: context.clock() + context.config.consent_ttl * 1000,
    },
    WAITING_BUDGET,
    context.clock(),
  );
  if (!kept) {
    throw new AuthorizationPageError(
      'Too many requests are waiting',
      'This one is long, and there is no room for it now. Go back to the application and start again in a minute, or sign ' +
        'in here first.',
      'the budget for long requests of nobody who is signed in is used up',
      { retryAfter: TRY_AGAIN },
    );
  }
  await context.pruning.tick();
  return secret;
}

// --- the cookies ------------------------------------------------------------------------------------------------

interface WaitingCookie {
  readonly name: string;
  /** Of name and value. */
  readonly bytes: number;
  /** Null when it is not ours, or has waited too long. The content is the request, or the secret it is found by. */
  readonly opened: { readonly createdAt: number; readonly content: SentParameters | string } | null;
}

function isSecure(context: ServerContext): boolean {
  return context.issuer.startsWith('https:');
}

function cookieName(context: ServerContext, requestId: string): string {
  return `${isSecure(context) ? '__Secure-' : ''}${PREFIX}${requestId}`;
}

function setCookie(context: ServerContext, name: string, value: string): string {
  return `${name}=${value}; ${attributes(context)}; Max-Age=${context.config.consent_ttl}`;
}

function takeAway(context: ServerContext, name: string): string {
  return `${name}=; ${attributes(context)}; Max-Age=0`;
}

/** Sent to the one path that reads it: with every other request of the application a cookie would only take room. */
function attributes(context: ServerContext): string {
  return `Path=${AUTHORIZE_PATH}; HttpOnly; SameSite=Lax${isSecure(context) ? '; Secure' : ''}`;
}

async function waitingCookies(context: ServerContext, request: Request): Promise<readonly WaitingCookie[]> {
  const prefix = cookieName(context, '');
  const cookies: WaitingCookie[] = [];
  for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
    const [name = '', value = ''] = pair.trim().split('=', 2);
    if (!name.startsWith(prefix) || !REQUEST_ID.test(name.slice(prefix.length))) continue;
    cookies.push({ name, bytes: name.length + value.length, opened: await opened(context, name, value) });
  }
  return cookies;
}

async function opened(context: ServerContext, name: string, value: string): Promise<WaitingCookie['opened']> {
  const text = await context.cookieSealer.open(name, value);
  if (text === null) return null;
  const [createdAt, content] = JSON.parse(text) as [number, SentParameters | string];
  const isOver = createdAt + context.config.consent_ttl * 1000 <= context.clock();
  return isOver ? null : { createdAt, content };
}

/** Which cookies have to go so that there is room for one of so many bytes: those that are good for nothing, and the oldest. */
function leavingFor(bytes: number, cookies: readonly WaitingCookie[]): readonly string[] {
  const newestFirst = cookies.toSorted((one, other) => ageOf(other) - ageOf(one));
  let room = MOST_BYTES - bytes;
  let places = MOST_COOKIES - 1;
  return newestFirst.flatMap((cookie) => {
    room -= cookie.bytes;
    places -= 1;
    return cookie.opened === null || room < 0 || places < 0 ? [cookie.name] : [];
  });
}

function ageOf({ opened: content }: WaitingCookie): number {
  return content?.createdAt ?? 0;
}
