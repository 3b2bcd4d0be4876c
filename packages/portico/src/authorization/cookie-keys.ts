import type { CookieKeyRecords } from '../store/sql/cookie-keys.ts';
import type { Sealer, Server } from '../server.ts';
import { derivedKey, openText, randomToken, sealText } from '../crypto.ts';

/**
 * How long each key encrypts new data: thirty days, in milliseconds. Each numbered period has one
 * key. So all processes use the same key at the same time.
 */
const PERIOD = 30 * 86_400_000;
/**
 * How far ahead the clock of another process may be, in milliseconds. Such a process may already
 * use the next key.
 */
const CLOCKS_DIFFER = 300_000;

const SEALED = /^(0|[1-9]\d{0,8})\.([A-Za-z0-9_-]{38,})$/;

/**
 * Encrypts data that browsers store. Decrypts it only under the same name. The first process that
 * needs a key creates it and stores it for all processes.
 */
export class CookieSealer implements Sealer {
  readonly #store: CookieKeyRecords;
  readonly #clock: () => number;
  readonly #lifetime: number;
  readonly #known = new Map<number, string>();

  /**
   * `lifetime` is how long encrypted data must stay readable, in milliseconds. The store keeps each
   * key for at least as long after its last use.
   */
  constructor(store: CookieKeyRecords, clock: () => number, lifetime: number) {
    this.#store = store;
    this.#clock = clock;
    this.#lifetime = lifetime;
  }

  isCurrent(sealed: string): boolean {
    return sealed.startsWith(`${this.#periodIn(0)}.`);
  }

  async seal(name: string, content: string): Promise<string> {
    const period = this.#periodIn(0);
    return `${period}.${sealText(keyFor(await this.#sealingKey(period), name), name, content)}`;
  }

  async open(name: string, sealed: string): Promise<string | null> {
    const [, period = '', text = ''] = SEALED.exec(sealed) ?? [];
    if (text === '') return null;
    const key = await this.#openingKey(Number(period));
    return key === null ? null : openText(keyFor(key, name), name, text);
  }

  /** Returns the number of the period `milliseconds` from now. */
  #periodIn(milliseconds: number): number {
    return Math.floor((this.#clock() + milliseconds) / PERIOD);
  }

  #remember(period: number, key: string): string {
    this.#known.set(period, key);
    const oldest = this.#periodIn(-this.#lifetime);
    for (const other of this.#known.keys()) if (other < oldest) this.#known.delete(other);
    return key;
  }

  async #sealingKey(period: number): Promise<string> {
    const oldest = this.#periodIn(-this.#lifetime);
    const known = this.#known.get(period);
    return (
      known ?? this.#remember(period, await this.#store.cookieKey(period, randomToken(), oldest))
    );
  }

  async #openingKey(period: number): Promise<string | null> {
    // Anyone can send any period number. Read only keys whose data can still be valid.
    if (period < this.#periodIn(-this.#lifetime) || period > this.#periodIn(CLOCKS_DIFFER))
      return null;
    const key = this.#known.get(period);
    if (key !== undefined) return key;
    const found = await this.#store.findCookieKey(period);
    return found === null ? null : this.#remember(period, found);
  }
}

/**
 * Encrypts strings that browsers store for this installation. Every process of the installation can
 * encrypt and decrypt them. The keys are the same as for cookies, but the names are not valid
 * cookie names. So Portico never accepts such a string as a cookie.
 *
 * @example
 * const state = await server.sealing.seal('checkout', JSON.stringify(cart));
 * const sent = await server.sealing.open('checkout', state);
 */
export class Sealing {
  readonly #server: Server;

  /** Only Portico calls this constructor. In your code, use the server's `sealing`. */
  constructor(server: Server) {
    this.#server = server;
  }

  /** Encrypts a string. `open` can decrypt it only with the same `purpose`. */
  seal(purpose: string, content: string): Promise<string> {
    const { sealer, clock } = this.#server;
    return sealer.seal(`; ${purpose}`, JSON.stringify([clock(), content]));
  }

  /**
   * Decrypts a string that was encrypted for this purpose within the last `consent_ttl` seconds.
   * Returns null for any other string.
   */
  async open(purpose: string, sealed: string): Promise<string | null> {
    const { sealer, clock, config } = this.#server;
    const text = await sealer.open(`; ${purpose}`, sealed);
    if (text === null) return null;
    const [sealedAt, content] = JSON.parse(text) as [number, string];
    const age = clock() - sealedAt;
    return age < config.consent_ttl * 1000 && age > -CLOCKS_DIFFER ? content : null;
  }
}

/** Returns a separate key for each name. IVs then only have to be unique within a name. */
function keyFor(key: string, name: string): Uint8Array {
  return derivedKey(Buffer.from(key, 'base64url'), `portico/cookie/${name}`);
}
