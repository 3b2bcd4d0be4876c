import { generateKeyPairSync } from 'node:crypto';
import type { ClientSource } from '../../clients/client-source.ts';
import { describe, expect, test } from 'vitest';
import type { PublicKey } from '../../keys/jws/public-keys.ts';
import { ClientKeysError } from '../../errors.ts';
import { createFetchJson, type FetchJson } from '../../http/outbound/fetch-json.ts';
import { OutboundError } from '../../http/outbound/limits.ts';
import { ClientKeySource } from './client-keys.ts';
import type { KeyedClient } from '../../clients/client-assertions.ts';
import type { ClientKeys } from '../../store/client.ts';

const { publicKey } = generateKeyPairSync('ed25519');
const JWK = publicKey.export({ format: 'jwk' });
const setOf = (kid: string, count = 1) => ({
  keys: Array.from({ length: count }, () => ({ ...JWK, kid })),
});
const named = (kid: string) => (keys: readonly PublicKey[]) => keys.some((key) => key.kid === kid);
const SECOND = 1000;

/** Creates a source. The test sets the keys that clients publish, and `asked` lists the fetches. */
function start() {
  const published = new Map<string, object | Error>();
  const asked: string[] = [];
  const about: object[] = [];
  const state = {
    now: 1_000_000_000,
    headers: {} as Record<string, string>,
    refusal: null as string | null,
    /** The only URL that is refused. */
    refusedUrl: null as string | null,
    keysIn: (): ClientKeys => {
      throw new OutboundError('no document is read here');
    },
  };
  const newFetchJson =
    (): FetchJson =>
    async (url, { ...said }) => {
      asked.push(url.pathname);
      about.push(said);
      const value = published.get(url.pathname) ?? new OutboundError('the answer is 404');
      if (value instanceof Error) throw value;
      return { value, headers: state.headers };
    };
  const source = new ClientKeySource(
    newFetchJson,
    {
      refusal: (url) => (url === state.refusedUrl ? 'this URL is denied' : state.refusal),
      keysIn: () => state.keysIn(),
    } satisfies Partial<ClientSource> as unknown as ClientSource,
    () => state.now,
  );
  const client = (
    at: string,
    registeredBy: KeyedClient['registeredBy'] = 'operator',
  ): KeyedClient => ({
    id: `client of ${at}`,
    registeredBy,
    keys: { jwks: null, jwksUri: `https://client.example${at}`, algorithm: null },
  });
  return {
    published,
    asked,
    about,
    state,
    source,
    client,
    /**
     * Returns whether the client has a key with this id. If the keys cannot be fetched, returns
     * after how many seconds to try again.
     */
    has: async (at: string, kid: string, registeredBy?: KeyedClient['registeredBy']) => {
      try {
        return await source.haveOne(client(at, registeredBy), named(kid));
      } catch (error) {
        if (error instanceof ClientKeysError) return error.retryAfter;
        throw error;
      }
    },
  };
}

describe('the published keys of a client', () => {
  test('may change right after a fetch that found no fresh ones', async () => {
    const { published, asked, state, has } = start();
    state.headers = { 'cache-control': 'max-age=600' };
    published.set('/a', setOf('a'));
    expect(await has('/a', 'a')).toBe(true);
    state.now += 600 * SECOND;
    expect(await has('/a', 'a')).toBe(true);
    published.set('/a', setOf('b'));
    expect([await has('/a', 'b'), asked.length]).toEqual([true, 3]);
  });

  // @shows AS-23.7
  test('are valid until they expire, to the millisecond', async () => {
    const { published, asked, state, has } = start();
    state.headers = { 'cache-control': 'max-age=600' };
    published.set('/a', setOf('a'));
    expect(await has('/a', 'a')).toBe(true);
    state.now += 600 * SECOND - 1;
    expect([await has('/a', 'a'), asked.length]).toEqual([true, 1]);
    state.now += 1;
    expect([await has('/a', 'a'), asked.length]).toEqual([true, 2]);
  });

  // @shows AS-23.7
  test('are fetched again for an unknown key, at most once a minute', async () => {
    const { published, asked, state, has } = start();
    published.set('/a', setOf('a'));
    expect([await has('/a', 'a'), asked.length]).toEqual([true, 1]);
    published.set('/a', setOf('b'));
    expect([await has('/a', 'b'), asked.length]).toEqual([true, 2]);
    published.set('/a', setOf('c'));
    expect([await has('/a', 'c'), asked.length]).toEqual([false, 2]);
    state.now += 60 * SECOND - 1;
    expect([await has('/a', 'c'), asked.length]).toEqual([false, 2]);
    state.now += 1;
    expect([await has('/a', 'c'), asked.length]).toEqual([true, 3]);
    // When the clock is set back, the source must not wait longer than before.
    published.set('/a', setOf('d'));
    state.now -= 3600 * SECOND;
    expect([await has('/a', 'd'), asked.length]).toEqual([true, 4]);
  });

  // @shows AS-23.7
  test('are not used longer if the clock is set back', async () => {
    const { published, state, has } = start();
    published.set('/a', setOf('a'));
    expect(await has('/a', 'a')).toBe(true);
    published.set('/a', setOf('b'));
    state.now -= 5 * 3600 * SECOND;
    expect(await has('/a', 'a')).toBe(false);
  });

  // @shows AS-23.7
  test('are used while valid if a new fetch fails, and are retried every ten seconds', async () => {
    const { published, asked, state, has } = start();
    published.set('/a', setOf('a'));
    expect(await has('/a', 'a')).toBe(true);
    published.delete('/a');
    state.now += 60 * SECOND;
    expect([await has('/a', 'b'), asked.length]).toEqual([false, 2]);
    expect([await has('/a', 'a'), await has('/a', 'b'), asked.length]).toEqual([true, false, 2]);
    state.now += 10 * SECOND;
    expect([await has('/a', 'b'), asked.length]).toEqual([false, 3]);
    state.now += 3600 * SECOND;
    expect([await has('/a', 'a'), asked.length]).toEqual([10, 4]);
    state.now += 3.5 * SECOND;
    expect([await has('/a', 'a'), asked.length]).toEqual([7, 4]);
    published.set('/a', setOf('a'));
    state.now += 6.5 * SECOND;
    expect([await has('/a', 'a'), asked.length]).toEqual([true, 5]);
  });

  test('are retried after the delay that the fetch function returns', async () => {
    const { published, has } = start();
    published.set('/a', new OutboundError('too many', 42));
    expect(await has('/a', 'a')).toBe(42);
  });

  test('that cannot be fetched do not block the first fetch for a different client', async () => {
    const { client } = start();
    const fetching = {
      allowsLoopback: false,
      anyPort: false,
      clock: () => 1_000_000_000,
      resolve: async () => ['10.0.0.1'],
    };
    let now = fetching.clock();
    const source = new ClientKeySource(
      () => createFetchJson({ ...fetching, clock: () => now }),
      null,
      () => now,
    );
    const detailOf = async (number: number) => {
      const known = client('/keys');
      const jwksUri = `https://client${number}.example/keys`;
      const keyed = { ...known, id: `client ${number}`, keys: { ...known.keys, jwksUri } };
      const failed = await source.haveOne(keyed, named('a')).catch((error: unknown) => error);
      return failed instanceof ClientKeysError ? failed.detail : '';
    };
    for (let round = 0; round < 6; round += 1) {
      for (let number = 0; number < 50; number += 1) await detailOf(number);
      now += 10 * SECOND;
    }
    now -= SECOND;
    expect(await detailOf(50)).toContain('the host has the address 10.0.0.1');
  });

  test('of several clients are fetched in parallel, independently of unreachable ones', async () => {
    const { published, asked, has } = start();
    expect(await has('/away', 'a')).toBe(10);
    for (const each of ['/a', '/b']) published.set(each, setOf('a'));
    expect(await Promise.all([has('/a', 'a'), has('/b', 'a'), has('/a', 'a')])).toEqual([
      true,
      true,
      true,
    ]);
    expect(asked).toEqual(['/away', '/a', '/b']);
  });

  test('do not count as unreachable after an internal error', async () => {
    const { published, asked, has } = start();
    published.set('/a', new TypeError('a fault'));
    await expect(has('/a', 'a')).rejects.toThrow(TypeError);
    published.set('/a', setOf('a'));
    expect([await has('/a', 'a'), asked.length]).toEqual([true, 2]);
  });

  test('are fetched with a size limit, and with the limits of known URLs after the first success', async () => {
    const { published, about, state, has } = start();
    const forWhom = {
      limit: 65_536,
      person: JSON.stringify(['a client', 'client of /a', 'its keys']),
    };
    await has('/a', 'a');
    published.set('/a', setOf('a'));
    for (const wait of [10, 3600]) {
      state.now += wait * SECOND;
      await has('/a', 'a');
    }
    expect(about).toEqual([
      { ...forWhom, isKnown: false, hasFailed: false },
      { ...forWhom, isKnown: false, hasFailed: true },
      { ...forWhom, isKnown: true, hasFailed: false },
    ]);
  });

  // @shows AS-23.7
  test('must be a set of at least one key', async () => {
    for (const value of [{ keys: [] }, { keys: 'none' }]) {
      const { published, has } = start();
      published.set('/a', value);
      expect(await has('/a', 'a')).toBe(10);
    }
  });

  // @shows AS-23.8
  test('of a document are fetched only from allowed hosts, and cached separately', async () => {
    const { published, asked, state, has } = start();
    published.set('/a', setOf('a'));
    expect([await has('/a', 'a', 'registration'), await has('/a', 'a'), asked.length]).toEqual([
      true,
      true,
      1,
    ]);
    expect([await has('/a', 'a', 'document'), asked.length]).toEqual([true, 2]);
    state.refusal = 'denied';
    expect([await has('/a', 'a', 'document'), asked.length]).toEqual([60, 2]);
    expect(await has('/a', 'a')).toBe(true);
  });

  // @shows AS-23.7
  test('are cached for 2,000 clients, and the least recently used sets are dropped', async () => {
    const { published, asked, has } = start();
    const paths = Array.from({ length: 40 }, (_, index) => `/${index}`);
    for (const each of paths) published.set(each, setOf('a', 50));
    for (const each of paths) await has(each, 'a');
    await has('/0', 'a');
    expect(asked).toHaveLength(40);
    published.set('/one', setOf('a'));
    await has('/one', 'a');
    for (const each of ['/0', '/2', '/one', '/39']) await has(each, 'a');
    expect(asked).toHaveLength(41);
    await has('/1', 'a');
    expect(asked).toHaveLength(42);
  });

  test('that are unreachable are remembered for at most 1,000 URLs', async () => {
    const { asked, has } = start();
    const paths = Array.from({ length: 1000 }, (_, index) => `/${index}`);
    for (const each of paths) await has(each, 'a');
    await has('/0', 'a');
    expect(asked).toHaveLength(1000);
    await has('/more', 'a');
    for (const each of ['/0', '/2', '/more']) await has(each, 'a');
    expect(asked).toHaveLength(1001);
    await has('/1', 'a');
    expect(asked).toHaveLength(1002);
  });
});

// @shows AS-23.2
test('stored keys of a client are used without a fetch', async () => {
  const { asked, source } = start();
  const client = (jwks: object, id: string) => ({
    id,
    registeredBy: 'operator' as const,
    keys: { jwks: JSON.stringify(jwks), jwksUri: null, algorithm: null },
  });
  for (const [id, other] of [
    ['a', 'b'],
    ['b', 'a'],
    ['a', 'b'],
  ] as const) {
    expect(await source.haveOne(client(setOf(id), id), named(id))).toBe(true);
    expect(await source.haveOne(client(setOf(id), id), named(other))).toBe(false);
  }
  expect(asked).toEqual([]);
});

describe('warnings about the keys of a client', () => {
  // @shows AS-23.9
  test('describe the keys as they are published now', async () => {
    const { published, about, source, client } = start();
    const fetched = ['they cannot be fetched: the answer is 404'];
    expect(await source.problems(client('/a'))).toEqual(fetched);
    published.set('/a', setOf('a'));
    expect(await source.problems(client('/a'))).toEqual([]);
    published.set('/a', { keys: [] });
    expect(await source.problems(client('/a'))).toEqual(['none of them can verify any signatures']);
    expect(about.at(-1)).toEqual({
      limit: 65_536,
      person: JSON.stringify(['a client', 'client of /a', 'its keys']),
      isKnown: true,
    });
    published.set('/a', new TypeError('a fault'));
    await expect(source.problems(client('/a'))).rejects.toThrow(TypeError);
  });

  // @shows AS-23.9
  test('are limited by no fetch limit, however many clients there are', async () => {
    const { client } = start();
    const fetching = {
      allowsLoopback: false,
      anyPort: false,
      clock: () => 1_000_000_000,
      resolve: async () => ['10.0.0.1'],
    };
    const source = new ClientKeySource(() => createFetchJson(fetching), null, fetching.clock);
    const found = new Set<string>();
    for (let number = 1; number <= 301; number += 1)
      for (const each of await source.problems(client(`/${number}`))) found.add(each);
    expect([...found]).toEqual([
      'they cannot be fetched: the host has the address 10.0.0.1, which is not public',
    ]);
  });

  // @shows AS-23.9
  test('include stored keys', async () => {
    const { source } = start();
    const problems = (jwks: string | null) =>
      source.problems({
        id: 'a',
        registeredBy: 'operator',
        keys: { jwks, jwksUri: null, algorithm: 'ES256' },
      });
    expect(await problems(JSON.stringify(setOf('a')))).toEqual([
      'none of them can verify ES256 signatures',
    ]);
    expect(await problems(null)).toEqual([expect.stringContaining('not a set')]);
  });
});

describe('the keys of a client that has no stored URL of its keys, but a document', () => {
  const DOCUMENT = 'https://client.example/client.json';
  const ELSEWHERE = 'https://client.example/keys';
  const KEYS = { jwks: null, jwksUri: null, algorithm: null };
  const client: KeyedClient = { id: DOCUMENT, registeredBy: 'document', keys: KEYS };

  /** Returns the algorithms with which the key `a` was looked for, or how the search ended. */
  async function search(
    says: Partial<ClientKeys>,
    change: (state: ReturnType<typeof start>['state']) => void = () => {},
  ) {
    const { published, state, source, asked, about } = start();
    published.set('/client.json', {});
    published.set('/keys', setOf('a'));
    state.keysIn = () => ({ ...KEYS, ...says });
    change(state);
    const algorithms: unknown[] = [];
    const counts: number[] = [];
    const result = await source
      .haveOne(client, (keys, algorithm) => {
        algorithms.push(algorithm);
        counts.push(keys.length);
        return named('a')(keys);
      })
      .catch((error: unknown) => (error instanceof ClientKeysError ? error.retryAfter : error));
    return { result, algorithms, counts, asked, about };
  }

  test('may be in the document', async () => {
    const jwks = JSON.stringify(setOf('a'));
    const found = await search({ jwks, algorithm: 'EdDSA' });
    expect(found).toMatchObject({
      result: true,
      algorithms: ['EdDSA'],
      asked: ['/client.json'],
      about: [{ limit: 5120 }],
    });
    expect(await search({ jwks })).toMatchObject({ result: true, algorithms: [null] });
    expect(await search({ jwks: JSON.stringify(setOf('b')) })).toMatchObject({
      result: false,
      asked: ['/client.json'],
    });
  });

  test('may be at a URL that the document names', async () => {
    expect(await search({ jwksUri: ELSEWHERE, algorithm: 'EdDSA' })).toMatchObject({
      result: true,
      algorithms: ['EdDSA', 'EdDSA'],
      counts: [0, 1],
      asked: ['/client.json', '/keys'],
    });
    expect(await search({ jwksUri: ELSEWHERE })).toMatchObject({ algorithms: [null, null] });
  });

  test('are not fetched from a URL that documents may not use', async () => {
    const denied = await search({ jwksUri: ELSEWHERE }, (state) => {
      state.refusedUrl = DOCUMENT;
    });
    expect(denied).toMatchObject({ result: 60, asked: [] });
    const elsewhere = await search({ jwksUri: ELSEWHERE }, (state) => {
      state.refusedUrl = ELSEWHERE;
    });
    expect(elsewhere).toMatchObject({ result: 60, asked: ['/client.json'] });
  });

  test('cannot be used at a server without documents', async () => {
    const fetched: string[] = [];
    const fetchJson: FetchJson = async (url) => {
      fetched.push(url.href);
      return { value: {}, headers: {} };
    };
    const source = new ClientKeySource(
      () => fetchJson,
      null,
      () => 0,
    );
    await expect(source.haveOne(client, () => true)).rejects.toMatchObject({ retryAfter: 60 });
    expect(fetched).toEqual([]);
  });
});
