import { randomBytes } from 'node:crypto';
import type { ClientRegistration } from 'portico';
import type { World } from '../world.ts';

/** Two requests that are refused in the same words, whose time must not say which of the two was sent. */
export interface Row {
  readonly name: string;
  /** What the requests of the two classes offer. */
  readonly classes: readonly [string, string];
  /** Entries of the ledger that both must have, besides having the same: a comparison that is left out in both is none. */
  readonly must: readonly string[];
  /** What one of them may have more often; each takes less than a microsecond. */
  readonly slight: readonly string[];
  /** In nanoseconds: a difference beyond it is a fault. */
  readonly limit: number;
  prepare(world: World): Promise<Pair>;
}

export interface Pair {
  /** Make a request each, outside of what is measured. */
  readonly requests: readonly [() => Request, () => Request];
  /** What both are answered. */
  readonly status: number;
}

/** In nanoseconds. The first is for requests that take the same way; the second where one of them reads a row that the other does not find. */
const LIMITS = { sameWay: 1000, row: 25_000 } as const;
/** Where the bytes of one value are all that differs. */
export const SAME_WAY = { slight: [], limit: LIMITS.sameWay } as const;
/** Where one is there and the other is not. */
export const A_ROW = { slight: [], limit: LIMITS.row } as const;
/** An id that no client has is counted by its hash. */
export const A_CLIENT = { slight: ['hash sha256'], limit: LIMITS.row } as const;
/** What no row has is compared with nothing: ids are no secrets, and what they stand for is hashed. */
export const AN_ID = { slight: ['timingSafeEqual 43'], limit: LIMITS.row } as const;

export const REDIRECT_URI = 'https://client.example/callback';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

export const BYTES = ['wrong in its first byte', 'wrong in its last byte'] as const;

export const random = (bytes = 32) => randomBytes(bytes).toString('base64url');
export const hex = () => randomBytes(16).toString('hex');

/** The same text but for one character, counted from the end below zero. */
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

export const UNKNOWN = 'a client that nobody knows';
export const HASHED = ['hash sha256', 'timingSafeEqual 43'];

/** What is expensive to make, made when it is asked for, and again only so often. */
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
