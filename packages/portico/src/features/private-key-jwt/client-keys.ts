import { RecentMap } from '../../http/recent-map.ts';
import { secondsFresh } from '../../outbound/freshness.ts';
import type { FetchJson } from '../../outbound/fetch-json.ts';
import { OutboundError } from '../../outbound/limits.ts';
import { ClientKeysError } from '../../errors.ts';
import type { PublicKey } from '../../jws/public-keys.ts';
import type { ClientSource } from '../../clients/client-source.ts';
import type { KeyedClient } from '../../clients/client-assertions.ts';
import { keySetProblems, readKeySet } from '../../clients/key-sets.ts';

/**
 * Whether one of these keys fits, of a client that signs with this algorithm alone; with any, when
 * it is null.
 */
export type Fits = (keys: readonly PublicKey[], algorithm: string | null) => boolean;

/**
 * Whether the client's document contains its keys. The document is then fetched again, because the
 * stored keys are from the last authorization.
 */
export function areInDocument({ registeredBy, keys }: KeyedClient): boolean {
  return registeredBy === 'document' && keys.jwksUri === null;
}

/** In bytes. */
const LARGEST = 64 * 1024;
const LARGEST_DOCUMENT = 5 * 1024;
/**
 * In milliseconds. A key that its owner has withdrawn is not a key after an hour, whatever the
 * cache headers say.
 */
const LONGEST_FRESH = 3_600_000;
const BETWEEN_FETCHES = 60_000;
const AFTER_FAILURE = 10_000;
/**
 * Sets remembered at most, and keys in those that are published; what was used longest ago is
 * forgotten first.
 */
const MOST_REMEMBERED = 1000;
const MOST_PUBLISHED_KEYS = 2000;

/** The key set that a client publishes at a URL. */
interface PublishedSet {
  readonly keys: readonly PublicKey[];
  /**
   * The one that the client signs with, as a document says; undefined where nothing is said of it.
   */
  readonly algorithm?: string | null;
  /** Where the keys are instead, as a document says. */
  readonly elsewhere?: string | null;
}

interface Published {
  /** Null when the last fetch failed and none before is fresh. */
  readonly set: PublishedSet | null;
  readonly freshUntil: number;
  readonly nextFetchAt: number;
}

/**
 * The public keys of clients, known here or published by the client, who changes them there without
 * a call.
 */
export class ClientKeySource {
  readonly #source: ClientSource | null;
  /** By the text that is kept. */
  readonly #kept = new RecentMap<string, readonly PublicKey[]>(MOST_REMEMBERED);
  // Anyone can publish a document that names any URL, and send assertions of its client. What is
  // fetched then, and what fails, must not affect a client that an operator registered.
  readonly #ofDocuments: PublishedKeys;
  readonly #ofRegistered: PublishedKeys;
  readonly #inDocuments: PublishedKeys;
  readonly #fetchForOperator: FetchJson;

  /**
   * `newFetchJson` makes a fetch with its own limits. `source` has the clients that no one
   * registered; null where there are none.
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
    this.#fetchForOperator = newFetchJson();
  }

  /**
   * Problems of the keys of this client as they are now, whatever was fetched before; empty when
   * nothing is wrong.
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
   * Whether `fits` holds for the keys of this client. Where it does not for those that were
   * published before, it is asked of those that are published now, at most once a minute. Throws a
   * ClientKeysError when none are known and none can be fetched.
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
    return (await this.#fetchForOperator(new URL(jwksUri), about)).value;
  }

  #requireSource(): ClientSource {
    if (this.#source !== null) return this.#source;
    throw unavailable('no feature of this server reads what describes it', BETWEEN_FETCHES / 1000);
  }

  #requireAllowed(url: string): void {
    const refusal = this.#requireSource().refusal(url);
    if (refusal !== null) throw unavailable(refusal, BETWEEN_FETCHES / 1000);
  }

  /** Takes only the keys. Other changes to the document count at the next authorization. */
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

/** What is fetched as keys. */
interface KeysToFetch {
  /** In bytes. */
  readonly limit: number;
  /** What was fetched, as a set of keys. Throws an OutboundError for anything else. */
  readonly read: (value: unknown, url: string) => PublishedSet;
}

const KEY_SETS: KeysToFetch = {
  limit: LARGEST,
  read: (value) => ({ keys: readKeySet(value) ?? [] }),
};

/** Keys that are published at URLs. */
class PublishedKeys {
  readonly #fetchJson: FetchJson;
  readonly #clock: () => number;
  readonly #what: KeysToFetch;
  /** By URL. */
  readonly #published = new RecentMap<string, Published>(MOST_REMEMBERED);
  readonly #underWay = new Map<string, Promise<Published>>();

  constructor(fetchJson: FetchJson, clock: () => number, what: KeysToFetch) {
    this.#fetchJson = fetchJson;
    this.#clock = clock;
    this.#what = what;
  }

  /** Whether what is published at this URL fits, as `ClientKeySource.haveOne` says. */
  async haveOne(clientId: string, url: string, fits: (set: PublishedSet) => boolean): Promise<boolean> {
    const known = this.#published.touch(url);
    const fresh = known === undefined ? null : this.#freshSet(known);
    if (fresh !== null && fits(fresh)) return true;
    const wait = (known?.nextFetchAt ?? 0) - this.#clock();
    if (wait <= 0 || wait > BETWEEN_FETCHES)
      return fits((await this.#fetchOnce(url, clientId)).set ?? { keys: [] });
    if (fresh !== null) return false;
    throw unavailable('they could not be fetched a moment ago', Math.ceil(wait / 1000));
  }

  #freshSet({ set, freshUntil }: Published): PublishedSet | null {
    return freshUntil > this.#clock() ? set : null;
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
   * After a failed fetch, keys that are still fresh stay in use, and the fetch is not repeated at
   * once.
   */
  async #fetch(url: string, clientId: string): Promise<Published> {
    const published = this.#published;
    const { limit, read } = this.#what;
    const before = published.get(url);
    try {
      const { value, headers } = await this.#fetchJson(new URL(url), {
        limit,
        person: getPerson(clientId),
        isKnown: (before?.set ?? null) !== null,
      });
      const set = read(value, url);
      if (set.keys.length === 0 && (set.elsewhere ?? null) === null)
        throw new OutboundError('it is not a key set that can verify');
      const now = this.#clock();
      const fresh = Math.min(secondsFresh(headers) * 1000, LONGEST_FRESH);
      const fetched = { set, freshUntil: now + fresh, nextFetchAt: now + BETWEEN_FETCHES };
      published.put(url, fetched);
      forgetOldest(published);
      return fetched;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      const nextFetchAt = this.#clock() + AFTER_FAILURE;
      if (before !== undefined && this.#freshSet(before) !== null)
        return published.put(url, { ...before, nextFetchAt });
      published.put(url, { set: null, freshUntil: 0, nextFetchAt });
      throw unavailable(error.message, error.retryAfter ?? AFTER_FAILURE / 1000);
    }
  }
}

/** For whom keys are fetched, among those who have anything fetched. */
function getPerson(clientId: string): string {
  return JSON.stringify(['a client', clientId, 'its keys']);
}

function unavailable(detail: string, retryAfter: number): ClientKeysError {
  return new ClientKeysError(`the keys of the client: ${detail}`, retryAfter);
}

/** Anyone can publish the largest set. */
function forgetOldest(published: Map<string, Published>): void {
  const count = ({ set }: Published) => set?.keys.length ?? 0;
  let total = [...published.values()].reduce((sum, each) => sum + count(each), 0);
  for (const [url, each] of published) {
    if (total <= MOST_PUBLISHED_KEYS) return;
    published.delete(url);
    total -= count(each);
  }
}
