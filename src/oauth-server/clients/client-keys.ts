import { secondsFresh } from '../outbound/freshness.ts';
import type { FetchJson } from '../outbound/fetch-json.ts';
import { OutboundError } from '../outbound/limits.ts';
import { ClientKeysError } from '../errors.ts';
import type { PublicKey } from '../../jws/public-keys.ts';
import type { Client, ClientKeys } from '../store/client.ts';
import { keySetProblems, readKeySet } from './key-sets.ts';

/** The public keys of clients, known here or published by the client, who changes them there without a call. */
export interface ClientKeySource {
  /**
   * Whether `fits` holds for the keys of this client. Where it does not for those that were published before, it is asked of those that
   * are published now, at most once a minute. Throws a ClientKeysError when none are known and none can be fetched.
   */
  haveOne(client: KeyedClient, fits: (keys: readonly PublicKey[]) => boolean): Promise<boolean>;
  /** What is to be said of the keys of this client as they are now, whatever was fetched before; empty when nothing is wrong. */
  problems(client: Pick<KeyedClient, 'id' | 'keys'>): Promise<readonly string[]>;
}

export type KeyedClient = Pick<Client, 'id' | 'registeredBy'> & { readonly keys: ClientKeys };

export interface ClientKeySourceOptions {
  /** Makes a fetch with limits of its own. */
  readonly newFetchJson: () => FetchJson;
  /** Why nothing is fetched from this URL for a client that is a document; null when nothing is against it. */
  readonly documentRefusal: (url: string) => string | null;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** In bytes. */
const LARGEST = 64 * 1024;
/** In milliseconds. A key that its owner has withdrawn is no key after an hour, whatever the cache headers say. */
const LONGEST_FRESH = 3_600_000;
const BETWEEN_FETCHES = 60_000;
const AFTER_FAILURE = 10_000;
/** Sets remembered at most, and keys in those that are published; what was used longest ago is forgotten first. */
const MOST_REMEMBERED = 1000;
const MOST_PUBLISHED_KEYS = 2000;

interface Published {
  /** Null when the last fetch failed and none before is fresh. */
  readonly keys: readonly PublicKey[] | null;
  readonly freshUntil: number;
  readonly nextFetchAt: number;
}

export function createClientKeySource(options: ClientKeySourceOptions): ClientKeySource {
  const { newFetchJson, documentRefusal, clock } = options;
  /** By the text that is kept. */
  const kept = new Map<string, readonly PublicKey[]>();
  // Anybody may publish a document that names any URL, and offer assertions of its client. Neither what is fetched then, nor what fails,
  // is anything to a client that an operator let in.
  const ofDocuments = createPublishedKeys(newFetchJson(), clock);
  const ofRegistered = createPublishedKeys(newFetchJson(), clock);
  const fetchForOperator = newFetchJson();

  function keysOf(jwks: string): readonly PublicKey[] {
    return recent(kept, jwks) ?? remember(kept, jwks, readKeySet(JSON.parse(jwks)) ?? []);
  }

  async function keySetOf({ id, keys: { jwks, jwksUri } }: Pick<KeyedClient, 'id' | 'keys'>) {
    if (jwksUri === null) return JSON.parse(jwks ?? 'null') as unknown;
    const about = { limit: LARGEST, person: personOf(id), isKnown: true };
    return (await fetchForOperator(new URL(jwksUri), about)).value;
  }

  return {
    async problems(client) {
      try {
        return keySetProblems(await keySetOf(client), client.keys.algorithm);
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error;
        return [`they cannot be fetched: ${error.message}`];
      }
    },

    async haveOne({ id, registeredBy, keys: { jwks, jwksUri } }, fits) {
      if (jwksUri === null) return jwks !== null && fits(keysOf(jwks));
      if (registeredBy !== 'document') return ofRegistered(id, jwksUri, fits);
      const refusal = documentRefusal(jwksUri);
      if (refusal !== null) throw unavailable(refusal, BETWEEN_FETCHES / 1000);
      return ofDocuments(id, jwksUri, fits);
    },
  };
}

/** Whether what is published at this URL fits, as `haveOne` says. */
type PublishedKeys = (
  clientId: string,
  url: string,
  fits: (keys: readonly PublicKey[]) => boolean,
) => Promise<boolean>;

function createPublishedKeys(fetchJson: FetchJson, clock: () => number): PublishedKeys {
  /** By URL. */
  const published = new Map<string, Published>();
  const underWay = new Map<string, Promise<Published>>();

  const isFresh = ({ keys, freshUntil }: Published) => keys !== null && freshUntil > clock();

  /** What failed leaves the keys that are fresh, and is not tried again at once. */
  async function fetchKeys(url: string, clientId: string): Promise<Published> {
    const before = published.get(url);
    try {
      const { value, headers } = await fetchJson(new URL(url), {
        limit: LARGEST,
        person: personOf(clientId),
        isKnown: (before?.keys ?? null) !== null,
      });
      const keys = readKeySet(value);
      if (keys === null || keys.length === 0) throw new OutboundError('it is no set of keys that verify');
      const now = clock();
      const fresh = Math.min(secondsFresh(headers) * 1000, LONGEST_FRESH);
      const fetched = { keys, freshUntil: now + fresh, nextFetchAt: now + BETWEEN_FETCHES };
      remember(published, url, fetched);
      forgetOldest(published);
      return fetched;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      const nextFetchAt = clock() + AFTER_FAILURE;
      if (before !== undefined && isFresh(before))
        return remember(published, url, { ...before, nextFetchAt });
      remember(published, url, { keys: null, freshUntil: 0, nextFetchAt });
      throw unavailable(error.message, error.retryAfter ?? AFTER_FAILURE / 1000);
    }
  }

  async function fetchOnce(url: string, clientId: string): Promise<Published> {
    const running = underWay.get(url) ?? fetchKeys(url, clientId);
    underWay.set(url, running);
    try {
      return await running;
    } finally {
      if (underWay.get(url) === running) underWay.delete(url);
    }
  }

  return async (clientId, url, fits) => {
    const known = recent(published, url);
    if (known !== undefined && isFresh(known) && fits(known.keys ?? [])) return true;
    const wait = (known?.nextFetchAt ?? 0) - clock();
    if (wait <= 0 || wait > BETWEEN_FETCHES) return fits((await fetchOnce(url, clientId)).keys ?? []);
    if (known !== undefined && isFresh(known)) return false;
    throw unavailable('they could not be fetched a moment ago', Math.ceil(wait / 1000));
  };
}

/** For whom keys are fetched, among those who have anything fetched. */
function personOf(clientId: string): string {
  return JSON.stringify(['a client', clientId, 'its keys']);
}

function unavailable(detail: string, retryAfter: number): ClientKeysError {
  return new ClientKeysError(`the keys of the client: ${detail}`, retryAfter);
}

/** Moves it to the end of the map: the first entry is the least recently used. */
function recent<Value>(map: Map<string, Value>, key: string): Value | undefined {
  const value = map.get(key);
  if (value === undefined) return undefined;
  map.delete(key);
  map.set(key, value);
  return value;
}

/** Anybody may publish the largest set there is. */
function forgetOldest(published: Map<string, Published>): void {
  const count = ({ keys }: Published) => keys?.length ?? 0;
  let total = [...published.values()].reduce((sum, each) => sum + count(each), 0);
  for (const [url, each] of published) {
    if (total <= MOST_PUBLISHED_KEYS) return;
    published.delete(url);
    total -= count(each);
  }
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): Value {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_REMEMBERED && oldest !== undefined) map.delete(oldest);
  return value;
}
