import { open } from 'node:fs/promises';
import { NotNowError } from '../../errors.ts';
import { createFetchConfigured } from '../../http/outbound/fetch-json.ts';
import type { GuardedOptions } from '../../http/outbound/guarded-request.ts';
import { OutboundError } from '../../http/outbound/limits.ts';
import type { PublicKey } from '../jws/public-keys.ts';
import type { IssuerKeyLocation } from './trusted-issuer.ts';

/** Returns null if the value is not a key set (RFC 7517). */
export type ReadKeySet = (value: unknown) => readonly PublicKey[] | null;

/** Returns true if one of these keys verifies the current assertion. */
export type FitsKeys = (keys: readonly PublicKey[]) => boolean;

export interface IssuerKeys {
  /**
   * Returns true if the issuer's keys pass `fits`. Throws a NotNowError if the keys cannot be read
   * now.
   */
  haveOne(fits: FitsKeys): Promise<boolean>;
}

/** In bytes. */
const LARGEST = 64 * 1024;
/** In milliseconds: the wait after a successful fetch, and after a failed one. */
const BETWEEN_FETCHES = 15_000;
const AFTER_FAILURE = 5000;

export function issuerKeysAt(
  location: IssuerKeyLocation,
  fetching: GuardedOptions,
  readKeySet: ReadKeySet,
): IssuerKeys {
  return 'file' in location
    ? new KeysInFile(location.file, readKeySet)
    : new KeysAtUrl(location, fetching, readKeySet);
}

/**
 * Reads the file again for each assertion, so changes take effect immediately. Parses it only if it
 * has changed: anyone can send invalid assertions.
 */
class KeysInFile implements IssuerKeys {
  readonly #file: string;
  readonly #readKeySet: ReadKeySet;
  #parsed: { readonly text: string; readonly keys: readonly PublicKey[] } | null = null;

  constructor(file: string, readKeySet: ReadKeySet) {
    this.#file = file;
    this.#readKeySet = readKeySet;
  }

  async haveOne(fits: FitsKeys): Promise<boolean> {
    return fits(await this.#read());
  }

  async #read(): Promise<readonly PublicKey[]> {
    let text: string | null = null;
    let value: unknown = null;
    try {
      text = await readAtMost(this.#file, LARGEST);
      if (text !== null && text === this.#parsed?.text) return this.#parsed.keys;
      if (text !== null) value = JSON.parse(text);
    } catch {
      throw unavailable(`the file ${this.#file} cannot be read, or is not JSON`, AFTER_FAILURE);
    }
    const keys = this.#readKeySet(value);
    if (text === null || keys === null)
      throw unavailable(
        `the file ${this.#file} is not a key set of at most 64 KiB (RFC 7517)`,
        AFTER_FAILURE,
      );
    this.#parsed = { text, keys };
    return keys;
  }
}

/** Returns null if the file is longer than `limit` bytes. */
async function readAtMost(file: string, limit: number): Promise<string | null> {
  const handle = await open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(limit + 1), 0, limit + 1, 0);
    return bytesRead > limit ? null : buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** `at` is the time of the fetch, in milliseconds since 1970. */
interface Fetched {
  readonly keys: readonly PublicKey[];
  readonly at: number;
}

/**
 * Fetches an issuer's keys and uses them until their lifetime ends. If no key verifies an
 * assertion, fetches them again earlier. An issuer can therefore change its keys without notice.
 */
class KeysAtUrl implements IssuerKeys {
  readonly #url: URL;
  /** In milliseconds. After this time, the server accepts no key that the issuer has withdrawn. */
  readonly #lifetime: number;
  readonly #fetchJson: ReturnType<typeof createFetchConfigured>;
  readonly #clock: () => number;
  readonly #readKeySet: ReadKeySet;
  #fetched: Fetched | null = null;
  /**
   * The time of the last fetch, and how long to wait after it, in milliseconds. A successful fetch
   * counts from its start, and a failed one from its end.
   */
  #last = { at: Number.NEGATIVE_INFINITY, wait: 0 };
  #underWay: Promise<readonly PublicKey[]> | null = null;
  /** Starts when the current fetch ends. */
  #following: Promise<readonly PublicKey[]> | null = null;

  constructor(
    { url, lifetime }: { readonly url: string; readonly lifetime: number },
    fetching: GuardedOptions,
    readKeySet: ReadKeySet,
  ) {
    this.#url = new URL(url);
    this.#lifetime = lifetime * 1000;
    this.#fetchJson = createFetchConfigured(fetching);
    this.#clock = fetching.clock;
    this.#readKeySet = readKeySet;
  }

  async haveOne(fits: FitsKeys): Promise<boolean> {
    const fresh = this.#fresh();
    if (fresh !== null && fits(fresh)) return true;
    const { at, wait } = this.#last;
    const left = this.#isPast(at, wait) ? 0 : at + wait - this.#clock();
    if (left === 0) return fits(await this.#fetchAnew());
    if (fresh !== null) return false;
    if (wait === AFTER_FAILURE) throw unavailable('they could not be fetched a moment ago', left);
    // Fetch again only for an assertion that a known key has signed. Otherwise, anyone could make
    // the server fetch the keys over and over.
    return fits(this.#fetched?.keys ?? []) && fits(await this.#fetchAnew());
  }

  #fresh(): readonly PublicKey[] | null {
    const fetched = this.#fetched;
    return fetched === null || this.#isPast(fetched.at, this.#lifetime) ? null : fetched.keys;
  }

  /** Returns true if `lasts` milliseconds have passed, or if the clock was set back. */
  #isPast(since: number, lasts: number): boolean {
    const passed = this.#clock() - since;
    return passed < 0 || passed >= lasts;
  }

  /**
   * Returns newly fetched keys. With a lifetime, a running fetch is new enough. Without one, the
   * fetch must start after this call.
   */
  async #fetchAnew(): Promise<readonly PublicKey[]> {
    if (this.#underWay === null || this.#lifetime > 0) return this.#fetchOnce();
    // The issuer may have withdrawn a key after the current fetch began. Wait for the next one.
    this.#following ??= this.#underWay
      .catch(() => null)
      .then(() => {
        this.#following = null;
        return this.#fetchOnce();
      });
    return this.#following;
  }

  async #fetchOnce(): Promise<readonly PublicKey[]> {
    this.#underWay ??= this.#fetch().finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  async #fetch(): Promise<readonly PublicKey[]> {
    // The lifetime starts with the fetch: the issuer may withdraw a key during it.
    const at = this.#clock();
    try {
      const keys = this.#readKeySet(await this.#fetchJson(this.#url, LARGEST));
      if (keys === null) throw new OutboundError('it is not a key set (RFC 7517)');
      this.#fetched = { keys, at };
      this.#last = { at, wait: BETWEEN_FETCHES };
      return keys;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      this.#last = { at: this.#clock(), wait: AFTER_FAILURE };
      const fresh = this.#fresh();
      if (fresh !== null) return fresh;
      throw unavailable(`${this.#url.href}: ${error.message}`, AFTER_FAILURE);
    }
  }
}

function unavailable(detail: string, wait: number): NotNowError {
  return new NotNowError('The keys of the issuer cannot be read now; try again later.', {
    tooMuch: false,
    detail: `the keys of the issuer: ${detail}`,
    retryAfter: Math.ceil(wait / 1000),
  });
}
