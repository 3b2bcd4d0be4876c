import { describe, expect, test } from 'vitest';
import { AuthorizationPageError, NotNowError } from '../../errors.ts';
import { createParameters } from '../../parameters.ts';
import type { OAuthServerConfig } from '../../config.ts';
import type { Parts } from '../../feature.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { NO_DEMANDS } from '../../store/client-demands.ts';
import { pushedRequests } from './index.ts';
import { PushedRequests } from './pushed.ts';
import type { WaitingRequestRecords } from '../../store/sql/waiting-requests.ts';

const START = 1_800_000_000_000;
const URN = 'urn:ietf:params:oauth:request_uri:';
const SENT = [
  ['client_id', 'app'],
  ['state', 'ä'],
] as const;
const REQUEST = new Request('https://portal.example/oauth/par', { method: 'POST' });

type Kept = Parameters<WaitingRequestRecords['keepWaitingRequest']>;

const clientOf = (about: Partial<Client> = {}) =>
  ({ id: 'app', public: false, registeredBy: 'operator', ...about }) as Client;

function start(about: { readonly address?: string | null; readonly hasRoom?: boolean } = {}) {
  const { address = '203.0.113.7', hasRoom = true } = about;
  const time = { now: START };
  const kept: Kept[] = [];
  const rows = new Map<string, Kept[0]>();
  const ticks = { count: 0 };
  const waitingRequests = {
    async keepWaitingRequest(...asked: Kept) {
      kept.push(asked);
      if (hasRoom) rows.set(asked[0].secretHash, asked[0]);
      return hasRoom;
    },
    async findWaitingRequest(hash, now) {
      const row = rows.get(hash);
      return row === undefined || row.expiresAt <= now ? null : row.parameters;
    },
    async endWaitingRequest(hash) {
      rows.delete(hash);
    },
  } satisfies Partial<WaitingRequestRecords>;
  const pushed = new PushedRequests({
    store: { waitingRequests },
    host: { clientAddress: () => address },
    pruning: { tick: async () => void (ticks.count += 1) },
    clock: () => time.now,
  } as unknown as Server);
  /** Returns the id of the request that a browser's query references. */
  const idOf = (query: string) => pushed.idOf(createParameters(new URLSearchParams(query)));
  return { pushed, idOf, time, kept, rows, ticks };
}

/** Returns the detail of the refusal, for the log. */
function refusal(refused: () => unknown): string | null {
  try {
    refused();
  } catch (error) {
    if (error instanceof AuthorizationPageError) return error.detail;
  }
  throw new Error('it was not refused');
}

describe('a pushed request', () => {
  test('is found by its request_uri and its client for one minute', async () => {
    const { pushed, idOf, time, ticks, rows } = start();
    const { requestUri, expiresIn } = await pushed.keep(REQUEST, clientOf(), SENT);
    expect([requestUri.slice(0, URN.length), requestUri.length, expiresIn]).toEqual([
      URN,
      URN.length + 43,
      60,
    ]);
    expect(ticks.count).toBe(1);
    const id = idOf(`client_id=app&request_uri=${requestUri}&state=other`) ?? '';
    expect(id).toMatch(/^[\w-]{43}$/);
    expect(await pushed.find(id)).toEqual(SENT);
    expect(await pushed.find(idOf(`client_id=another&request_uri=${requestUri}`) ?? '')).toBeNull();
    expect(await pushed.find(idOf(`request_uri=${requestUri}`) ?? '')).toBeNull();
    time.now += 59_999;
    expect(await pushed.find(id)).toEqual(SENT);
    time.now += 1;
    expect(await pushed.find(id)).toBeNull();
    time.now -= 1;
    await pushed.end(id);
    expect([await pushed.find(id), rows.size]).toEqual([null, 0]);
  });

  test('is stored without its request_uri, which is different each time', async () => {
    const { pushed, idOf, kept } = start();
    const uris = [];
    for (let time = 0; time < 2; time += 1)
      uris.push((await pushed.keep(REQUEST, clientOf(), SENT)).requestUri);
    expect(uris[0]).not.toBe(uris[1]);
    for (const [index, uri] of uris.entries()) {
      const stored = JSON.stringify(kept[index]);
      expect(stored).not.toContain(uri.slice(URN.length));
      expect(stored).not.toContain(idOf(`client_id=app&request_uri=${uri}`));
    }
  });

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    [null, ''],
  ])(
    'from %s counts for the network "%s", with its bytes and those of a row',
    async (address, network) => {
      const { pushed, kept } = start({ address });
      await pushed.keep(REQUEST, clientOf(), SENT);
      const parameters = '[["client_id","app"],["state","ä"]]';
      expect(kept[0]?.[0]).toMatchObject({
        network,
        parameters,
        bytes: 336,
        expiresAt: START + 60_000,
      });
      expect(kept[0]?.[2]).toBe(START);
    },
  );

  test('counts for the limit, unless an authenticated client of an operator pushed it', async () => {
    const { pushed, kept } = start();
    const budget = { total: 8 * 1024 * 1024, ofOneNetwork: 1024 * 1024 };
    for (const [about, counted] of [
      [{}, null],
      [{ public: true }, budget],
      [{ registeredBy: 'client' }, budget],
      [{ registeredBy: 'document' }, budget],
      [{ public: true, registeredBy: 'client' }, budget],
    ] as const) {
      await pushed.keep(REQUEST, clientOf(about as Partial<Client>), SENT);
      expect([about, kept.at(-1)?.[1]]).toEqual([about, counted]);
    }
  });

  test('is refused with a retry time if there is no room, and replaces no other request', async () => {
    const { pushed, ticks } = start({ hasRoom: false });
    const refused = pushed.keep(REQUEST, clientOf({ public: true }), SENT);
    await expect(refused).rejects.toThrow(NotNowError);
    await expect(refused).rejects.toMatchObject({
      message: 'Too many pushed requests are waiting; try again later.',
      tooMuch: true,
      retryAfter: 60,
      detail: 'too many pushed requests of public or unverified clients are waiting',
    });
    expect(ticks.count).toBe(0);
  });
});

describe('the request_uri of a pushed request', () => {
  const OURS = URN + 'a'.repeat(43);

  test('is not recognized if it is missing or has a different form', () => {
    const { idOf } = start();
    for (const query of [
      '',
      'client_id=app',
      'request_uri=',
      'request_uri=https://client.example/request',
      `request_uri=x${OURS}`,
      'request_uri=https://client.example/request&request=e30',
    ])
      expect(idOf(query)).toBeNull();
  });

  test('must be the only one, with a single client_id and no request object', () => {
    const { idOf } = start();
    const other =
      'the authorization request has a second request_uri, a request object or a second client_id';
    for (const more of [
      `request_uri=${OURS}`,
      'request_uri=x',
      'request=e30',
      'client_id=app',
      'client_id=',
    ])
      expect([more, refusal(() => idOf(`client_id=app&request_uri=${OURS}&${more}`))]).toEqual([
        more,
        `the request_uri: ${other}`,
      ]);
    // A parameter without a value is treated as missing.
    const id = idOf(`client_id=app&request_uri=${OURS}`);
    expect(idOf(`client_id=app&request_uri=${OURS}&request_uri=&request=`)).toBe(id);
    expect(idOf(`request_uri=&client_id=app&request_uri=${OURS}`)).toBe(id);
  });

  test('that this server would not have created is refused', () => {
    const { idOf } = start();
    for (const secret of [
      '',
      'a'.repeat(42),
      'a'.repeat(44),
      `${'a'.repeat(42)}!`,
      `${'a'.repeat(43)}%0A`,
    ])
      expect(refusal(() => idOf(`client_id=app&request_uri=${URN}${secret}`))).toBe(
        'the request_uri: it is not a request_uri of this server',
      );
  });

  test('and its client result in the same stored id in every release', () => {
    expect(start().idOf(`client_id=app&request_uri=${OURS}`)).toBe(
      'y53knjqG2RfU7OMEAgVQZdafdkGmiDYyUsD6WL0tJOk',
    );
  });
});

// @shows AS-25.1
test.each([
  [undefined, false, false, undefined],
  ['off', false, false, undefined],
  [
    'accept',
    true,
    false,
    { pushed_authorization_request_endpoint: 'https://as.example/oauth/par' },
  ],
  [
    'require',
    true,
    true,
    {
      pushed_authorization_request_endpoint: 'https://as.example/oauth/par',
      require_pushed_authorization_requests: true,
    },
  ],
] as const)(
  'with pushed_authorization_requests: %s the server stores, demands and announces them',
  (mode, isOn, isRequired, metadata) => {
    const config = { pushed_authorization_requests: mode } as OAuthServerConfig;
    expect(pushedRequests.clientDemands?.map((demand) => demand.meets(config))).toEqual([isOn]);
    const started = pushedRequests.start?.({ issuer: 'https://as.example' } as Server, config);
    expect(started?.directRequests instanceof PushedRequests).toBe(isOn);
    expect(started?.handlers === undefined).toBe(!isOn);
    expect(started?.metadata).toEqual(metadata);
    const refuses = (demands: Partial<typeof NO_DEMANDS>) =>
      started?.indirectRefusal?.({ ...NO_DEMANDS, ...demands }) instanceof Error;
    expect([refuses({}), refuses({ pushesRequests: true })]).toEqual([isRequired, true]);
  },
);

// @shows AS-24.5
test('a proof at the endpoint must name its URL', async () => {
  const urls: string[] = [];
  const binding = {
    prove: async (_: Request, url: string) => {
      urls.push(url);
      throw new Error('no proof');
    },
  };
  const parts = { binding, authenticating: () => null } as unknown as Parts;
  const server = { issuer: 'https://as.example' } as Server;
  const config = { pushed_authorization_requests: 'accept' } as OAuthServerConfig;
  const handlers = pushedRequests.start?.(server, config).handlers?.(parts);
  const request = new Request('https://elsewhere.example/', {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'app' }),
  });
  await expect(handlers?.['oauth_server_par']?.(request)).rejects.toThrow('no proof');
  expect(urls).toEqual(['https://as.example/oauth/par']);
});
