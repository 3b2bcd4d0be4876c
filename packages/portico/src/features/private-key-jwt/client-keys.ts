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
 * Returns true if one of the keys fits, for example because it verifies a signature. `algorithm` is
 * the client's only algorithm, or null if the client may use any.
 */
export type Fits = (keys: readonly PublicKey[], algorithm: string | null) => boolean;

/**
 * Returns true if the client document contains the keys. Portico then fetches the document again,
 * because the stored copy is as old as the last authorization.
 */
export function areInDocument({ registeredBy, keys }: KeyedClient): boolean {
  return registeredBy === 'document' && keys.jwksUri === null;
}

/** The maximum sizes of fetched documents, in bytes. */
const LARGEST = 64 * 1024;
const LARGEST_DOCUMENT = 5 * 1024;
/**
 * How long a fetched key set is used, in milliseconds. A key that a client withdraws works for at
 * most one more hour, even if the cache headers allow more.
 */
const LONGEST_FRESH = 3_600_000;
const BETWEEN_FETCHES = 60_000;
const AFTER_FAILURE = 10_000;
/**
 * The maximum number of remembered sets and of keys in published sets. Above a limit, Portico
 * forgets the least recently used set.
 */
const MOST_REMEMBERED = 1000;
const MOST_PUBLISHED_KEYS = 2000;

/** The key set that a client publishes at a URL. */
interface PublishedSet {
  readonly keys: readonly PublicKey[];
  /**
   * The algorithm in the client's document, or null. Undefined if the key set is not from a
   * document.
   */
  readonly algorithm?: string | null;
  /** The URL of the keys, if the document contains a URL instead of keys. */
  readonly elsewhere?: string | null;
}

interface Published {
  /** Null if the last fetch failed and no earlier set is still fresh. */
  readonly set: PublishedSet | null;
  /** If the clock now shows an earlier time, it was set back, and the set is stale. */
  readonly fetchedAt: number;
  readonly freshUntil: number;
  readonly nextFetchAt: number;
}

/**
 * Finds the public keys of clients: stored keys, or keys at a URL, where the client can change them
 * at any time.
 */
export class ClientKeySource {
  readonly #source: ClientSource | null;
  /** The parsed keys, by the JSON text of the stored key set. */
  readonly #kept = new RecentMap<string, readonly PublicKey[]>(MOST_REMEMBERED);
  // Fetches the keys of clients with documents. Anyone can publish a document with any URL and then
  // send assertions. These fetches have separate limits, so such clients cannot use up the limits
  // of registered clients.
  readonly #ofDocuments: PublishedKeys;
  readonly #ofRegistered: PublishedKeys;
  readonly #inDocuments: PublishedKeys;
  readonly #newFetchJson: () => FetchJson;

  /**
   * `newFetchJson` creates a fetch function with separate limits. `source` is null if no feature
   * provides clients with documents.
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

  /** Returns all problems with the client's keys. Fetches keys at a `jwks_uri` again. */
  async problems(client: KeyedClient): Promise<readonly string[]> {
    try {
      return keySetProblems(await this.#keySetOf(client), client.keys.algorithm);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return [`they cannot be fetched: ${error.message}`];
    }
  }

  /**
   * Returns the result of `fits` for the client's keys. If keys from an earlier fetch do not fit,
   * fetches them again, after the second fetch at most once a minute. Throws a ClientKeysError if
   * there are no keys and the fetch fails.
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
    // An operator may check all clients together, so each client gets separate limits.
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
   * Reads only the keys from the document. Its other changes take effect at the next authorization.
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

interface KeysToFetch {
  /** The maximum size of the fetched document, in bytes. */
  readonly limit: number;
  /** Throws an OutboundError if the value is not a valid key set. */
  readonly read: (value: unknown, url: string) => PublishedSet;
}

const KEY_SETS: KeysToFetch = {
  limit: LARGEST,
  read: (value) => ({ keys: readKeySet(value) ?? [] }),
};

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
   * Returns the result of `fits` for the keys at this URL. Fetches them as
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

  /** Fetches the keys. If this fails, keeps fresh keys and waits before the next fetch. */
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
        // The keys may change soon after the first fetch, so allow the second one immediately.
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

/** The name of this client in the fetch limits. */
function getPerson(clientId: string): string {
  return JSON.stringify(['a client', clientId, 'its keys']);
}

function unavailable(detail: string, retryAfter: number): ClientKeysError {
  return new ClientKeysError(`the keys of the client: ${detail}`, retryAfter);
}

/**
 * Anyone can publish a very large set. Forgets the least recently used sets when there are too many
 * keys.
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
