import type { CookieKeyRecords } from '../store/sql/cookie-keys.ts';
import type { Sealer } from '../server.ts';
import { derivedKey, openText, randomToken, sealText } from '../crypto.ts';

export interface CookieSealerOptions {
  readonly store: CookieKeyRecords;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** How long encrypted content is needed, and so its key, in milliseconds. */
  readonly lifetime: number;
}

/**
 * A key is used for thirty days (in milliseconds), and is named by the number of that period: all
 * processes agree on it.
 */
const PERIOD = 30 * 86_400_000;
/**
 * How far another process's clock may be ahead, in milliseconds, and so already in the next period.
 */
const CLOCKS_DIFFER = 300_000;

const SEALED = /^(0|[1-9]\d{0,8})\.([A-Za-z0-9_-]{38,})$/;

/**
 * Encrypts what a browser stores for this server. Decrypts only what was encrypted here under the
 * same name. The first process that needs a key makes it; the store keeps it for all of them.
 */
export function createCookieSealer({ store, clock, lifetime }: CookieSealerOptions): Sealer {
  const known = new Map<number, string>();
  const periodAt = (time: number) => Math.floor(time / PERIOD);

  function remember(period: number, key: string): string {
    known.set(period, key);
    for (const other of known.keys()) if (other < periodAt(clock() - lifetime)) known.delete(other);
    return key;
  }

  async function sealingKey(period: number): Promise<string> {
    const oldest = periodAt(clock() - lifetime);
    return known.get(period) ?? remember(period, await store.cookieKey(period, randomToken(), oldest));
  }

  async function openingKey(period: number): Promise<string | null> {
    // A number that a stranger invented must not reach the store.
    if (period < periodAt(clock() - lifetime) || period > periodAt(clock() + CLOCKS_DIFFER)) return null;
    const key = known.get(period);
    if (key !== undefined) return key;
    const found = await store.findCookieKey(period);
    return found === null ? null : remember(period, found);
  }

  return {
    isCurrent: (sealed) => sealed.startsWith(`${periodAt(clock())}.`),
    async seal(name, content) {
      const period = periodAt(clock());
      return `${period}.${sealText(keyFor(await sealingKey(period), name), name, content)}`;
    },
    async open(name, sealed) {
      const [, period = '', text = ''] = SEALED.exec(sealed) ?? [];
      if (text === '') return null;
      const key = await openingKey(Number(period));
      return key === null ? null : openText(keyFor(key, name), name, text);
    },
  };
}

/**
 * Texts that browsers carry for this installation. Each of its processes can encrypt and decrypt
 * them.
 */
export interface Sealing {
  /** Encrypts a text. */
  seal(purpose: string, content: string): Promise<string>;
  /**
   * A text that was encrypted for this purpose within the last `consent_ttl`; null for anything
   * else.
   */
  open(purpose: string, sealed: string): Promise<string | null>;
}

/** Uses the keys of the cookies, and names that no cookie can have. */
export function createSealing({
  sealer,
  clock,
  lifetime,
}: {
  readonly sealer: Sealer;
  readonly clock: () => number;
  readonly lifetime: number;
}): Sealing {
  const nameOf = (purpose: string) => `; ${purpose}`;
  return {
    seal: (purpose, content) => sealer.seal(nameOf(purpose), JSON.stringify([clock(), content])),
    async open(purpose, sealed) {
      const text = await sealer.open(nameOf(purpose), sealed);
      if (text === null) return null;
      const [sealedAt, content] = JSON.parse(text) as [number, string];
      const age = clock() - sealedAt;
      return age < lifetime && age > -CLOCKS_DIFFER ? content : null;
    },
  };
}

/** A separate key for each name: an IV has to be unique only under one name. */
function keyFor(key: string, name: string): Uint8Array {
  return derivedKey(Buffer.from(key, 'base64url'), `portico/cookie/${name}`);
}
