import { randomBytes } from 'node:crypto';
import type { ClientRegistration } from 'portico';
import type { World } from '../world.ts';

/**
 * Two requests that are refused in the same words, whose time must not reveal which of the two was
 * sent.
 */
export interface Row {
  readonly name: string;
  /** What the requests of the two classes send. */
  readonly classes: readonly [string, string];
  /**
   * Ledger entries that both must have, besides having the same: a comparison that both skip is no
   * comparison.
   */
  readonly must: readonly string[];
  /** What one of them may have more often; each takes less than a microsecond. */
  readonly slight: readonly string[];
  /** In nanoseconds: a larger difference is a fault. */
  readonly limit: number;
  prepare(world: World): Promise<Pair>;
}

export interface Pair {
  /** Each makes a request, outside of the measurement. */
  readonly requests: readonly [() => Request, () => Request];
  /** The answer to both. */
  readonly status: number;
}

/**
 * In nanoseconds. The first is for requests that take the same way; the second if one of them reads
 * a row that the other does not find.
 */
const LIMITS = { sameWay: 1000, row: 25_000 } as const;
/** If they differ only in the bytes of one value. */
export const SAME_WAY = { slight: [], limit: LIMITS.sameWay } as const;
/** If one exists and the other does not. */
export const A_ROW = { slight: [], limit: LIMITS.row } as const;
/** An unknown client id is counted by its hash. */
export const A_CLIENT = { slight: ['hash sha256'], limit: LIMITS.row } as const;
/** A missing row causes no comparison: ids are not secrets, and what they stand for is hashed. */
export const AN_ID = { slight: ['timingSafeEqual 43'], limit: LIMITS.row } as const;

export const REDIRECT_URI = 'https://client.example/callback';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

export const BYTES = ['wrong in its first byte', 'wrong in its last byte'] as const;

export const random = (bytes = 32) => randomBytes(bytes).toString('base64url');
export const hex = () => randomBytes(16).toString('hex');

/** The same text with one other character, counted from the end if negative. */
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

/** An expensive value, made on demand, and again only this often. */
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
