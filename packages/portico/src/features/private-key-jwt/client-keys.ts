import { RecentMap } from '../../http/recent-map.ts';
import { secondsFresh } from '../../http/outbound/freshness.ts';
import type { FetchJson } from '../../http/outbound/fetch-json.ts';
import { OutboundError } from '../../http/outbound/limits.ts';
import { ClientKeysError } from '../../errors.ts';
import type { PublicKey } from '../../keys/jws/public-keys.ts';
import type { ClientSource } from '../../clients/client-source.ts';
import type { KeyedClient } from '../../clients/client-assertions.ts';
import { keySetProblems, readKeySet } from '../../clients/key-sets.ts';

/**
 * Returns whether one of the keys fits, for example because it verifies a signature. `algorithm` is
 * the only algorithm that the client may use, or null if it may use any.
 */
export type Fits = (keys: readonly PublicKey[], algorithm: string | null) => boolean;

/**
 * Whether the client publishes its keys in its client document. If so, Portico fetches the document
 * again, because the stored copy is as old as the last authorization.
 */
export function areInDocument({ registeredBy, keys }: KeyedClient): boolean {
  return registeredBy === 'document' && keys.jwksUri === null;
}

/** The maximum sizes of fetched documents, in bytes. */
const LARGEST = 64 * 1024;
const LARGEST_DOCUMENT = 5 * 1024;
/**
 * How long Portico uses a fetched key set before it fetches the set again, in milliseconds. If a
 * client withdraws a key, Portico accepts this key for at most one more hour, even if the cache
 * headers allow more time.
 */
const LONGEST_FRESH = 3_600_000;
const BETWEEN_FETCHES = 60_000;
const AFTER_FAILURE = 10_000;
/**
 * The maximum number of remembered key sets (`MOST_REMEMBERED`) and of keys in published sets
 * (`MOST_PUBLISHED_KEYS`). Above a limit, Portico forgets the least recently used set.
 */
const MOST_REMEMBERED = 1000;
const MOST_PUBLISHED_KEYS = 2000;

/** The key set that a client publishes at a URL. */
interface PublishedSet {
  readonly keys: readonly PublicKey[];
  /**
   * The algorithm that the client's document names, or null if it names none. Undefined if the key
   * set does not come from a document.
   */
  readonly algorithm?: string | null;
  /** The URL of the keys if the client's document contains this URL instead of keys. */
  readonly elsewhere?: string | null;
}

interface Published {
  /** Null if the last fetch failed and no earlier set is still fresh. */
  readonly set: PublishedSet | null;
  /**
   * When the set was fetched. If the clock now shows an earlier time, the clock was set back.
   * Portico then treats the set as stale.
   */
  readonly fetchedAt: number;
  readonly freshUntil: number;
  readonly nextFetchAt: number;
}

/**
 * Finds the public keys of clients. Portico either stores a client's keys or fetches them from a
 * URL, where the client can change them at any time.
 */
export class ClientKeySource {
  readonly #source: ClientSource | null;
  /** The parsed keys, by the stored JSON text of the key set. */
  readonly #kept = new RecentMap<string, readonly PublicKey[]>(MOST_REMEMBERED);
  // Fetches the keys of clients with documents. Anyone can publish a document that names any URL,
  // and then send assertions as this client. These fetches have separate limits, so that such
  // clients cannot use up the limits of registered clients.
  readonly #ofDocuments: PublishedKeys;
  readonly #ofRegistered: PublishedKeys;
  readonly #inDocuments: PublishedKeys;
  readonly #newFetchJson: () => FetchJson;

  /**
   * `newFetchJson` creates a fetch function with separate limits. `source` finds clients by their
   * documents. It is null if no feature provides such clients.
   */
  constructor(newFetchJson: () => FetchJson, source: ClientSource | null, clock: () => number) {
    this.#source = source;
    this.#ofDocuments = new PublishedKeys(newFetchJson(), clock, KEY_SETS);
    this.#ofRegistered = new PublishedKeys(newFetchJson(), clock, KEY_SETS);
    this.#inDocuments = new PublishedKeys(newFetchJson(), clock, {
      limit: LARGEST_DOCUMENT,
      read: (document, url) => {
        const { jwks, jwksUri: elsewhere, algorithm } = this.#requireSource().keysIn(document, url);
        return { keys: jwks === null ? [] : this.#keysOf(jwks), algorithm, elsewhere };
      },
    });
    this.#newFetchJson = newFetchJson;
  }

  /**
   * Checks the client's keys. If they are at a `jwks_uri`, fetches them again. Returns a list of
   * problems, which is empty if there are none.
   */
  async problems(client: KeyedClient): Promise<readonly string[]> {
    try {
      return keySetProblems(await this.#keySetOf(client), client.keys.algorithm);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return [`they cannot be fetched: ${error.message}`];
    }
  }

  /**
   * Returns whether `fits` is true for the client's keys. If `fits` is false for keys from an
   * earlier fetch, fetches the keys again. After the second fetch, does so at most once a minute.
   * Throws a ClientKeysError if Portico has no keys and cannot fetch any.
   */
  async haveOne(client: KeyedClient, fits: Fits): Promise<boolean> {
    const { id, registeredBy, keys } = client;
    const { jwks, jwksUri, algorithm } = keys;
    if (areInDocument(client)) return this.#haveInDocument(id, fits);
    if (jwksUri === null) return jwks !== null && fits(this.#keysOf(jwks), algorithm);
    const fit = (set: PublishedSet) => fits(set.keys, algorithm);
    if (registeredBy !== 'document') return this.#ofRegistered.haveOne(id, jwksUri, fit);
    this.#requireAllowed(jwksUri);
    return this.#ofDocuments.haveOne(id, jwksUri, fit);
  }

  #keysOf(jwks: string): readonly PublicKey[] {
    return this.#kept.touch(jwks) ?? this.#kept.put(jwks, readKeySet(JSON.parse(jwks)) ?? []);
  }

  async #keySetOf({ id, keys: { jwks, jwksUri } }: KeyedClient): Promise<unknown> {
    if (jwksUri === null) return JSON.parse(jwks ?? 'null') as unknown;
    const about = { limit: LARGEST, person: getPerson(id), isKnown: true };
    // Use a new fetch function with separate limits for each client, because an operator may check
    // all clients together.
    return (await this.#newFetchJson()(new URL(jwksUri), about)).value;
  }

  #requireSource(): ClientSource {
    if (this.#source !== null) return this.#source;
    throw unavailable(
      'this server does not accept clients with metadata documents',
      BETWEEN_FETCHES / 1000,
    );
  }

  #requireAllowed(url: string): void {
    const refusal = this.#requireSource().refusal(url);
    if (refusal !== null) throw unavailable(refusal, BETWEEN_FETCHES / 1000);
  }

  /**
   * Reads only the keys from the document. All other changes in the document take effect at the
   * next authorization.
   */
  async #haveInDocument(url: string, fits: Fits): Promise<boolean> {
    this.#requireAllowed(url);
    let last: PublishedSet = { keys: [] };
    const isInside = await this.#inDocuments.haveOne(url, url, (set) => {
      last = set;
      return fits(set.keys, set.algorithm ?? null);
    });
    const { elsewhere = null, algorithm = null } = last;
    if (isInside || elsewhere === null) return isInside;
    this.#requireAllowed(elsewhere);
    return this.#ofDocuments.haveOne(url, elsewhere, (set) => fits(set.keys, algorithm));
  }
}

/** The size limit and the parser for a kind of fetched document. */
interface KeysToFetch {
  /** The maximum size of the fetched document, in bytes. */
  readonly limit: number;
  /** Parses a fetched value as a key set. Throws an OutboundError if the value is not valid. */
  readonly read: (value: unknown, url: string) => PublishedSet;
}

const KEY_SETS: KeysToFetch = {
  limit: LARGEST,
  read: (value) => ({ keys: readKeySet(value) ?? [] }),
};

/** Fetches and remembers published keys. */
class PublishedKeys {
  readonly #fetchJson: FetchJson;
  readonly #clock: () => number;
  readonly #what: KeysToFetch;
  /** The published key sets, by URL. */
  readonly #published = new RecentMap<string, Published>(MOST_REMEMBERED);
  readonly #underWay = new Map<string, Promise<Published>>();

  constructor(fetchJson: FetchJson, clock: () => number, what: KeysToFetch) {
    this.#fetchJson = fetchJson;
    this.#clock = clock;
    this.#what = what;
  }

  /**
   * Returns whether `fits` is true for the keys at this URL. Fetches the keys as
   * `ClientKeySource.haveOne` describes.
   */
  async haveOne(
    clientId: string,
    url: string,
    fits: (set: PublishedSet) => boolean,
  ): Promise<boolean> {
    const known = this.#published.touch(url);
    const fresh = known === undefined ? null : this.#freshSet(known);
    if (fresh !== null && fits(fresh)) return true;
    const wait = (known?.nextFetchAt ?? 0) - this.#clock();
    if (wait <= 0 || wait > BETWEEN_FETCHES)
      return fits((await this.#fetchOnce(url, clientId)).set ?? { keys: [] });
    if (fresh !== null) return false;
    throw unavailable('they could not be fetched a moment ago', Math.ceil(wait / 1000));
  }

  #freshSet({ set, fetchedAt, freshUntil }: Published): PublishedSet | null {
    const now = this.#clock();
    return now >= fetchedAt && now < freshUntil ? set : null;
  }

  async #fetchOnce(url: string, clientId: string): Promise<Published> {
    const running = this.#underWay.get(url) ?? this.#fetch(url, clientId);
    this.#underWay.set(url, running);
    try {
      return await running;
    } finally {
      if (this.#underWay.get(url) === running) this.#underWay.delete(url);
    }
  }

  /**
   * Fetches the keys. If the fetch fails, keeps the keys that are still fresh and waits before the
   * next fetch.
   */
  async #fetch(url: string, clientId: string): Promise<Published> {
    const published = this.#published;
    const { limit, read } = this.#what;
    const before = published.get(url);
    const isRepeated = before !== undefined && this.#freshSet(before) !== null;
    try {
      const { value, headers } = await this.#fetchJson(new URL(url), {
        limit,
        person: getPerson(clientId),
        isKnown: (before?.set ?? null) !== null,
        hasFailed: before?.set === null,
      });
      const set = read(value, url);
      if (set.keys.length === 0 && (set.elsewhere ?? null) === null)
        throw new OutboundError('it is not a key set, or has no key that can verify signatures');
      const now = this.#clock();
      const fresh = Math.min(secondsFresh(headers) * 1000, LONGEST_FRESH);
      const fetched = {
        set,
        fetchedAt: now,
        freshUntil: now + fresh,
        // The keys may change soon after the first fetch, so allow the second fetch immediately.
        nextFetchAt: now + (isRepeated ? BETWEEN_FETCHES : 0),
      };
      published.put(url, fetched);
      forgetOldest(published);
      return fetched;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      const nextFetchAt = this.#clock() + AFTER_FAILURE;
      if (before !== undefined && this.#freshSet(before) !== null)
        return published.put(url, { ...before, nextFetchAt });
      published.put(url, { set: null, fetchedAt: 0, freshUntil: 0, nextFetchAt });
      throw unavailable(error.message, error.retryAfter ?? AFTER_FAILURE / 1000);
    }
  }
}

/** Returns the name by which the fetch limits identify this client. */
function getPerson(clientId: string): string {
  return JSON.stringify(['a client', clientId, 'its keys']);
}

function unavailable(detail: string, retryAfter: number): ClientKeysError {
  return new ClientKeysError(`the keys of the client: ${detail}`, retryAfter);
}

/**
 * Forgets the least recently used sets when there are too many keys, because anyone can publish a
 * very large set.
 */
function forgetOldest(published: Map<string, Published>): void {
  const count = ({ set }: Published) => set?.keys.length ?? 0;
  let total = [...published.values()].reduce((sum, each) => sum + count(each), 0);
  for (const [url, each] of published) {
    if (total <= MOST_PUBLISHED_KEYS) return;
    published.delete(url);
    total -= count(each);
  }
}
