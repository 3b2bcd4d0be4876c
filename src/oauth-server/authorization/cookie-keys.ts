import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Store } from '../store/store.ts';
import { randomToken } from '../crypto.ts';

/**
 * Encrypts what a browser stores for this server. Only what was encrypted here, under the same name, is decrypted again. The
 * process that first needs a key makes it; the store holds it for all of them.
 */
export interface CookieSealer {
  seal(name: string, content: string): Promise<string>;
  /** What was sealed under this name; null for anything else, and when its key is gone. */
  open(name: string, sealed: string): Promise<string | null>;
  /** Whether it was sealed with the key that is used now: the one before is dropped soon. */
  isCurrent(sealed: string): boolean;
}

export interface CookieSealerOptions {
  readonly store: Pick<Store, 'cookieKey' | 'findCookieKey'>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** How long sealed content is needed, and so its key, in milliseconds. */
  readonly lifetime: number;
}

/** A key seals for thirty days (in milliseconds), named by the number of that period: all processes agree on it. */
const PERIOD = 30 * 86_400_000;
/** Another process's clock may be ahead, in milliseconds, and in the next period already. */
const CLOCKS_DIFFER = 300_000;

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^(\d{1,9})\.([A-Za-z0-9_-]{38,})$/;

export function createCookieSealer({ store, clock, lifetime }: CookieSealerOptions): CookieSealer {
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
    // A number that somebody made up must not reach the store.
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
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, keyFor(await sealingKey(period), name), iv);
      cipher.setAAD(Buffer.from(name));
      const encrypted = Buffer.concat([iv, cipher.update(content, 'utf8'), cipher.final()]);
      return `${period}.${Buffer.concat([encrypted, cipher.getAuthTag()]).toString('base64url')}`;
    },
    async open(name, sealed) {
      const [, period = '', text = ''] = SEALED.exec(sealed) ?? [];
      if (text === '') return null;
      const key = await openingKey(Number(period));
      if (key === null) return null;
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv(ALGORITHM, keyFor(key, name), bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(name));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const content = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([content, decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}

/** A key for each name, derived for this one purpose: an IV has to be unique under one name only. */
function keyFor(key: string, name: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', Buffer.from(key, 'base64url'), '', `portico/cookie/${name}`, 32));
}
