import { randomBytes } from 'node:crypto';
import type { ClientRegistration } from 'portico';
import type { World } from '../world.ts';

/**
 * Two requests that the server rejects with the same error. The response time must not reveal which
 * of them was sent.
 */
export interface Row {
  readonly name: string;
  /** What the requests of each class send. */
  readonly classes: readonly [string, string];
  /**
   * Entries that the ledgers of both requests must contain. Without them, the test would not notice
   * a comparison that is missing for both requests.
   */
  readonly must: readonly string[];
  /** Entries that one of the requests may have more often. Each takes less than a microsecond. */
  readonly slight: readonly string[];
  /** The largest allowed difference, in nanoseconds. A larger difference is a fault. */
  readonly limit: number;
  prepare(world: World): Promise<Pair>;
}

export interface Pair {
  /** Two functions that each create a request. They are not measured. */
  readonly requests: readonly [() => Request, () => Request];
  /** The status of both responses. */
  readonly status: number;
}

/**
 * The limits, in nanoseconds. The first is for requests that run the same code. The second is for
 * requests of which only one finds a row.
 */
const LIMITS = { sameWay: 1000, row: 25_000 } as const;
/** For requests that differ only in the bytes of one value. */
export const SAME_WAY = { slight: [], limit: LIMITS.sameWay } as const;
/** For requests of which only one names something that exists. */
export const A_ROW = { slight: [], limit: LIMITS.row } as const;
/** For requests with an unknown client. An unknown client id is counted by its hash. */
export const A_CLIENT = { slight: ['hash sha256'], limit: LIMITS.row } as const;
/**
 * For requests with an id that may not exist. A missing row causes no comparison. This is safe,
 * because ids are not secrets, and the values behind them are hashed.
 */
export const AN_ID = { slight: ['timingSafeEqual 43'], limit: LIMITS.row } as const;

export const REDIRECT_URI = 'https://client.example/callback';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

export const BYTES = ['wrong in its first byte', 'wrong in its last byte'] as const;

export const random = (bytes = 32) => randomBytes(bytes).toString('base64url');
export const hex = () => randomBytes(16).toString('hex');

/** Returns the text with another character at this index. A negative index counts from the end. */
export function but(text: string, index: number): string {
  const at = index < 0 ? text.length + index : index;
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
}

export type Fields = Readonly<Record<string, string>>;

export const post = ({ url }: World, at: string, fields: Fields, headers: Fields = {}) =>
  new Request(url + at, { method: 'POST', headers, body: new URLSearchParams(fields) });

export const basic = (id: string, secret: string) => ({
  Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

export const REFRESHING = { grant_type: 'refresh_token', refresh_token: 'none' } as const;

export async function newClient({ server }: World, more: Partial<ClientRegistration> = {}) {
  const { client, secret } = await server.clients.create({
    name: 'Application',
    redirectUris: [REDIRECT_URI],
    scopes: ['notes:read'],
    ...more,
  });
  return { id: client.id, secret: secret ?? '' };
}

export type NewClient = Awaited<ReturnType<typeof newClient>>;

export const UNKNOWN = 'an unknown client';
export const HASHED = ['hash sha256', 'timingSafeEqual 43'];

/**
 * Returns a function that creates an expensive value when needed. After a limited number of values,
 * it repeats them.
 */
export function cycle<T>(make: () => T): () => T {
  const made: T[] = [];
  let asked = 0;
  return () => {
    if (made.length < POOL) made.push(make());
    asked += 1;
    return made[asked % made.length] as T;
  };
}

const POOL = 64;
