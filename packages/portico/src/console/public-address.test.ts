import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answerRoundTrip, ROUND_TRIP_HEADER, type SeenRequest } from '../endpoints/round-trip.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import type { Server } from '../server.ts';
import { failing, ok, type Check } from './checks.ts';
import { examinePublicAddress } from './public-address.ts';
import type { Subject } from './subject.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = {
  kid: 'a',
  algorithm: 'RS256',
  privateKey,
  publicJwk: publicKey.export({ format: 'jwk' }),
} as SigningKey;
/** The private part of this key is elsewhere. */
const SIGNER = { ...KEY, kid: 'b', privateKey: null } as SigningKey;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const NOT_FOUND: Answer = (_, response) => void response.writeHead(404).end('not here');

/** What the server at the public address answers, by path. */
let answers: Record<string, Answer>;
let asked: IncomingMessage[];
let url: string;
const listening = createServer((request, response) => {
  asked.push(request);
  const { pathname } = new URL(request.url ?? '', url);
  (answers[pathname] ?? NOT_FOUND)(request, response);
});

beforeAll(async () => {
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
});
afterAll(() => void listening.close());
beforeEach(() => {
  asked = [];
  answers = {};
});

const json =
  (document: unknown): Answer =>
  (_, response) =>
    void response.writeHead(200).end(JSON.stringify(document));

interface Options {
  readonly basePath?: string;
  readonly mountPath?: string;
  readonly keys?: readonly SigningKey[];
  readonly active?: SigningKey | null;
  readonly examinations?: readonly object[];
  readonly fetch?: Subject['application']['fetch'];
}

async function examined({
  basePath = '',
  mountPath = basePath,
  keys = [KEY],
  active = KEY,
  examinations = [],
  fetch,
}: Options = {}): Promise<Readonly<Record<string, Check>>> {
  const server = {
    issuer: `${url}${basePath}`,
    origin: url,
    basePath,
    mountPath,
    examinations,
    host: { log: { error: () => {} } },
    config: { key_path: '/keys', audience: `${url}/api` },
    resources: [],
    keys: { all: async () => keys, active: async () => active },
  };
  const application = fetch === undefined ? {} : { fetch };
  const checks = await examinePublicAddress({ application, server } as unknown as Subject, {
    patience: 5,
  });
  expect(new Set(checks.map(({ part }) => part)).size).toBe(checks.length);
  return Object.fromEntries(checks.map((check) => [check.part, check]));
}

const METADATA = '/.well-known/openid-configuration';
const KEY_SET = '/.well-known/jwks.json';
const inSet = ({ kid, publicJwk }: SigningKey, changes: object = {}) => ({
  kid,
  ...publicJwk,
  ...changes,
});

/** Answers the metadata. To the doctor's question, it answers that it saw this request. */
const metadata =
  (seen: Partial<SeenRequest> | null, basePath = ''): Answer =>
  (request, response) => {
    const document = JSON.stringify({ issuer: `${url}${basePath}` });
    const question = request.headers[ROUND_TRIP_HEADER.toLowerCase()];
    const isAsked = seen !== null && typeof question === 'string';
    if (!isAsked) response.writeHead(200).end(document);
    else
      void (async () => {
        const found: Readonly<Record<string, string | null | undefined>> = {
          host: request.headers.host,
          'x-forwarded-for': request.headers['x-forwarded-for'] as string,
          ...headersOf(seen),
          [ROUND_TRIP_HEADER]: question,
        };
        const headers = Object.entries(found).flatMap(([name, value]) =>
          value === null || value === undefined ? [] : [[name, value] as [string, string]],
        );
        const { address = '127.0.0.1' } = seen;
        const process = {
          issuer: `${url}${basePath}`,
          keys: { published: async () => [KEY] },
          host: { clientAddress: () => address },
          clock: Date.now,
        } as unknown as Server;
        const received = { headers: new Headers(headers) } as Request;
        const answer = await answerRoundTrip(process, received);
        response.writeHead(200, { [ROUND_TRIP_HEADER]: answer ?? '' }).end(document);
      })();
  };

/** The headers of a request as the process sees it. Without a value, they do not change. */
function headersOf({ host, forwardedHost, forwardedProto, forwardedFor }: Partial<SeenRequest>) {
  return {
    ...(host === undefined ? {} : { host }),
    ...(forwardedHost === undefined ? {} : { 'x-forwarded-host': forwardedHost }),
    ...(forwardedProto === undefined ? {} : { 'x-forwarded-proto': forwardedProto }),
    ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
  };
}

function serve(seen: Partial<SeenRequest> | null = {}): void {
  answers = { [METADATA]: metadata(seen), [KEY_SET]: json({ keys: [inSet(KEY)] }) };
}

describe('the public address', () => {
  test('returns the issuer, the key set, and what the process received', async () => {
    serve();
    const { host } = new URL(url);
    expect(await examined()).toEqual({
      'public address': {
        part: 'public address',
        ...ok(`${url}${METADATA} returns this server's issuer`),
      },
      'public key set': {
        part: 'public key set',
        ...ok(`${url}${KEY_SET} returns the same keys as /keys (number of keys: 1)`),
      },
      proxies: {
        part: 'proxies',
        ...ok(
          'no proxy appends to X-Forwarded-For; the process sees the address 127.0.0.1; the ' +
            `process sees the host ${host}; X-Forwarded-Proto is not set (@portico/kit does not need it)`,
        ),
      },
    });
    expect(asked.map((request) => request.url?.replace(/=[\w-]{10,}$/, '=random'))).toEqual([
      METADATA,
      KEY_SET,
      `${METADATA}?doctor=random`,
    ]);
    expect(asked.at(-1)?.headers['x-forwarded-for']).toBe('192.0.2.123');
  });

  test('returns another issuer', async () => {
    answers = { [METADATA]: json({ issuer: 'https://other.example' }) };
    expect(await examined()).toMatchObject({
      'public address': {
        outcome: 'failing',
        detail: `${url}${METADATA} returns the issuer "https://other.example", but the issuer of this process is ${url}`,
        remedy: expect.stringMatching(/^set public_url \(PUBLIC_URL\) to the same value/) as string,
      },
      'public key set': {
        outcome: 'skipped',
        detail: 'not checked: requests to the public address do not reach this server',
      },
      proxies: {
        outcome: 'skipped',
        detail: 'not checked: requests to the public address may reach another server',
      },
    });
    expect(asked).toHaveLength(1);
  });

  test('may have another path than the proxy forwards', async () => {
    const remedy = async (options: Options) => (await examined(options))['public address']?.remedy;
    expect(await remedy({})).not.toContain('base_path');
    expect(await remedy({ basePath: '/auth' })).toMatch(
      /\S; if the proxy removes \/auth from the path, set base_path_stripped to true$/,
    );
    expect(await remedy({ basePath: '/auth', mountPath: '' })).toMatch(
      /\S; if the proxy keeps \/auth in the path, remove base_path_stripped$/,
    );
  });

  test('returns the metadata in front of base_path, too', async () => {
    const front = '/.well-known/oauth-authorization-server/auth';
    answers = {
      [`/auth${METADATA}`]: metadata({}, '/auth'),
      [`/auth${KEY_SET}`]: json({ keys: [inSet(KEY)] }),
      [front]: json({ issuer: `${url}/auth` }),
    };
    const part = 'in front of base_path';
    expect((await examined({ basePath: '/auth' }))[part]).toEqual({
      part,
      ...ok(`${url}${front} returns this server's issuer`),
    });
    for (const wrong of [json({ issuer: url }), json({}), NOT_FOUND]) {
      answers[front] = wrong;
      expect((await examined({ basePath: '/auth' }))[part]).toMatchObject({
        outcome: 'warning',
        detail:
          `${url}${front} does not return this server's metadata, but OAuth clients look for it ` +
          'there (RFC 8414 section 3.1)',
        remedy:
          'make the proxy forward /.well-known/*/auth, and all paths below it, to the ' +
          'application unchanged',
      });
    }
    expect(await examined()).not.toHaveProperty([part]);
  });
});

describe('a document at the public address', () => {
  const found = async (answer: Answer) => {
    answers = { [METADATA]: answer };
    return (await examined())['public address'];
  };

  test.each([300, 308, 399])(
    'is not fetched from elsewhere, with the status %i',
    async (status) => {
      const redirecting: Answer = (_, response) =>
        void response.writeHead(status, { Location: '/elsewhere' }).end();
      expect((await found(redirecting))?.detail).toBe(
        `${url}${METADATA} redirects (${status}) to /elsewhere; the doctor does not follow redirects`,
      );
      expect(asked).toHaveLength(1);
    },
  );

  test.each([299, 400])('has the wrong status %i', async (status) => {
    const answer: Answer = (_, response) =>
      void response.writeHead(status, { Location: '/elsewhere' }).end('{}');
    expect((await found(answer))?.detail).toBe(
      `${url}${METADATA} returns ${status} (no content type) instead of the server's JSON document`,
    );
  });

  test('can have a megabyte, but not more', async () => {
    const of = (length: number): Answer => {
      const start = `{"issuer":"${url}","padding":"`;
      return (_, response) => void response.end(`${start.padEnd(length - 2, 'x')}"}`);
    };
    expect(await found(of(1024 * 1024))).toMatchObject({ outcome: 'ok' });
    expect(await found(of(1024 * 1024 + 1))).toMatchObject({ outcome: 'failing' });
  });

  test('cannot be fetched from a server that does not speak HTTP', async () => {
    const answer: Answer = (_, response) => void response.socket?.end('220 mail.example\r\n');
    const { host } = new URL(url);
    expect(await found(answer)).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(
        new RegExp(String.raw`^public_url: ${host} cannot be reached: Parse Error.* \(HPE_\w+\)$`),
      ) as string,
      remedy: 'correct public_url (PUBLIC_URL)',
    });
  });
});

describe('the published key set', () => {
  const { n: _, ...withoutN } = KEY.publicJwk;
  const EC = {
    ...KEY,
    kid: 'ec',
    publicJwk: { kty: 'EC', crv: 'P-256', x: 'AQ', y: 'Ag' },
  } as SigningKey;

  test.each([
    ['no keys', { keys: [] }, 'does not have a, ec'],
    ['no list', { keys: 'x' }, 'does not have a, ec'],
    ['nothing', {}, 'does not have a, ec'],
    ['another key', { keys: [inSet(KEY), inSet(EC), inSet(EC, { kid: 'c' })] }, 'also has c'],
    [
      'another modulus',
      { keys: [inSet(KEY, { n: 'x' }), inSet(EC)] },
      'does not have a, and also has a',
    ],
    [
      'no modulus',
      { keys: [{ kid: 'a', ...withoutN }, inSet(EC)] },
      'does not have a, and also has a',
    ],
    [
      'another point',
      { keys: [inSet(KEY), inSet(EC, { x: 'x' })] },
      'does not have ec, and also has ec',
    ],
    [
      'other ids',
      { keys: [inSet(KEY, { kid: 'c' }), inSet(EC, { kid: 'd' })] },
      'does not have a, ec, and also has c, d',
    ],
    ['a key without an id', { keys: [inSet(KEY), inSet(EC), {}] }, 'also has undefined'],
  ])('with %s differs', async (_, document, difference) => {
    serve();
    answers[KEY_SET] = json(document);
    expect(await examined({ keys: [KEY, EC] })).toMatchObject({
      'public key set': {
        outcome: 'failing',
        detail: `oauth_server:key_path: compared with /keys, ${url}${KEY_SET} ${difference}`,
        remedy: expect.stringMatching(/^use the same key directory/) as string,
      },
      proxies: { outcome: 'skipped' },
    });
  });

  test('can be in another order', async () => {
    serve();
    answers[KEY_SET] = json({ keys: [inSet(EC), inSet(KEY)] });
    expect((await examined({ keys: [KEY, EC] }))['public key set']).toMatchObject({
      outcome: 'ok',
      detail: expect.stringMatching(/\(number of keys: 2\)$/) as string,
    });
  });

  test('cannot be fetched', async () => {
    serve();
    answers[KEY_SET] = NOT_FOUND;
    expect((await examined())['public key set']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining(`${KEY_SET} returns 404`) as string,
    });
  });
});

test('features examine the public address only if it leads to this server', async () => {
  const fetched: unknown[] = [];
  const examinations = [
    { part: 'silent' },
    {
      part: 'own',
      publicFindings: async (
        application: unknown,
        fetchDocument: (url: string, headers: object, statuses: number[]) => Promise<unknown>,
        server: { readonly origin: string },
      ) => {
        fetched.push(application, await fetchDocument(`${server.origin}/own`, { x: 'y' }, [202]));
        return [failing('it is wrong', 'correct it')];
      },
    },
  ];
  serve();
  answers['/own'] = (request, response) =>
    void response.writeHead(202).end(JSON.stringify({ x: request.headers['x'] }));
  const found = await examined({ examinations });
  expect(found['own']).toEqual({ part: 'own', ...failing('it is wrong', 'correct it') });
  expect(found).not.toHaveProperty('silent');
  expect(fetched).toMatchObject([{}, { status: 202, document: { x: 'y' } }]);
  answers[METADATA] = NOT_FOUND;
  expect(await examined({ examinations })).not.toHaveProperty('own');
});

test('the metadata of an API is fetched, too', async () => {
  serve();
  const part = 'public resource';
  const served = async () => Response.json({});
  expect(await examined()).not.toHaveProperty([part]);
  const path = '/.well-known/oauth-protected-resource/api';
  answers[path] = json({ resource: `${url}/api`, authorization_servers: [url] });
  expect((await examined({ fetch: served }))[part]).toEqual({
    part,
    ...ok(`${url}${path} returns the metadata of ${url}/api`),
  });
});

describe('what the process receives', () => {
  const seen = async (found: Partial<SeenRequest> | null, options?: Options) => {
    serve(found);
    return (await examined(options))['proxies'];
  };
  const MADE_UP = '192.0.2.123';
  const UNCERTAIN =
    ', which could also be the address of an untrusted proxy on the same machine; ' +
    'trusted_proxies should be';

  test('is asked with a key in a file, if possible the active one', async () => {
    expect(await seen({}, { keys: [SIGNER, KEY], active: SIGNER })).toMatchObject({
      outcome: 'skipped',
    });
    answers[KEY_SET] = json({ keys: [inSet(SIGNER), inSet(KEY)] });
    expect((await examined({ keys: [SIGNER, KEY], active: SIGNER }))['proxies']).toMatchObject({
      outcome: 'ok',
    });
    expect((await examined({ keys: [SIGNER, KEY], active: null }))['proxies']).toMatchObject({
      outcome: 'ok',
    });
    const other = { ...KEY, kid: 'unknown' } as SigningKey;
    expect((await examined({ keys: [SIGNER, KEY], active: other }))['proxies']).toMatchObject({
      outcome: 'warning',
    });
    answers[KEY_SET] = json({ keys: [inSet(SIGNER)] });
    expect((await examined({ keys: [SIGNER], active: SIGNER }))['proxies']).toMatchObject({
      outcome: 'skipped',
      detail: 'not checked: this check needs a signing key in a file',
    });
    answers[KEY_SET] = json({ keys: [] });
    expect((await examined({ keys: [], active: null }))['proxies']).toMatchObject({
      outcome: 'skipped',
      detail: 'not checked: this check needs a signing key; run npx portico oauth:server:setup',
    });
  });

  test('is unknown if the answer is missing or wrong', async () => {
    expect(await seen(null)).toMatchObject({
      outcome: 'warning',
      detail: expect.stringMatching(
        /\?doctor=[\w-]+ answered, but did not report which address and headers the process received$/,
      ) as string,
      remedy: expect.stringMatching(
        /^make the proxies forward the header Portico-Doctor in requests/,
      ) as string,
    });
    answers[METADATA] = (_, response) =>
      void response
        .writeHead(200, { [ROUND_TRIP_HEADER]: 'x' })
        .end(JSON.stringify({ issuer: url }));
    expect((await examined())['proxies']).toMatchObject({ outcome: 'warning' });
    let requests = 0;
    answers[METADATA] = (request, response) => {
      requests += 1;
      if (requests === 1) metadata({})(request, response);
      else response.writeHead(500).end();
    };
    expect((await examined())['proxies']).toMatchObject({
      outcome: 'failing',
      detail: expect.stringContaining('returns 500') as string,
    });
  });

  test.each([
    [
      'no address',
      { address: null, forwardedFor: MADE_UP },
      'no proxy appends to X-Forwarded-For; the process sees no address',
    ],
    [
      'no header',
      { forwardedFor: null },
      'no proxy appends to X-Forwarded-For; the process sees the address 127.0.0.1',
    ],
    [
      'a mapped address',
      { address: '::ffff:127.0.0.1' },
      'no proxy appends to X-Forwarded-For; the process sees the address 127.0.0.1',
    ],
    [
      'one proxy',
      { forwardedFor: `${MADE_UP}, 198.51.100.7`, address: '198.51.100.7' },
      '1 proxy appends to X-Forwarded-For; the process sees the address 198.51.100.7',
    ],
    [
      'two proxies',
      { forwardedFor: `${MADE_UP},198.51.100.7 , ,10.0.0.2`, address: '198.51.100.7' },
      '2 proxies append to X-Forwarded-For; the process sees the address 198.51.100.7',
    ],
    [
      'a proxy that removes earlier addresses',
      { forwardedFor: '198.51.100.7:4711', address: '198.51.100.7' },
      '1 proxy appends to X-Forwarded-For; the process sees the address 198.51.100.7',
    ],
    [
      'a proxy on this machine',
      { forwardedFor: `${MADE_UP}, 127.0.0.1`, address: '127.0.0.1' },
      `1 proxy appends to X-Forwarded-For; the process sees the address 127.0.0.1${UNCERTAIN} 1`,
    ],
    [
      'a proxy on this machine, with IPv6',
      { forwardedFor: `${MADE_UP}, ::1`, address: '::1' },
      `1 proxy appends to X-Forwarded-For; the process sees the address ::1${UNCERTAIN} 1`,
    ],
  ])('has the right address: %s', async (_, found, says) => {
    const check = await seen(found);
    expect(check).toMatchObject({ outcome: 'ok', remedy: null });
    expect(check?.detail.split('; the process sees the host ')[0]).toBe(says);
  });

  const set = (count: number) =>
    `set trusted_proxies to ${count}. With another framework, set its number of trusted proxies ` +
    "(Express: app.set('trust proxy', …)) and return its address from clientAddress of the host " +
    'contract';
  const append =
    'if there is a proxy in front of the process, make it append the IP address of its client ' +
    '(nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for)';
  const forged =
    `the process accepted a forged client address (${MADE_UP}), so an attacker can bypass the ` +
    'limits on failed attempts: ';

  test.each([
    [
      'forged',
      { address: MADE_UP },
      `${forged}0 proxies append to X-Forwarded-For`,
      `${append}. Otherwise, ${set(0)}`,
    ],
    [
      'forged, behind a proxy',
      { address: MADE_UP, forwardedFor: `${MADE_UP}, 198.51.100.7` },
      `${forged}1 proxy appends to X-Forwarded-For`,
      set(1),
    ],
    [
      'of a proxy',
      { address: '10.0.0.2', forwardedFor: `${MADE_UP}, 198.51.100.7, 10.0.0.2` },
      'the process sees the address 10.0.0.2, but the outermost proxy saw 198.51.100.7: 2 proxies append to X-Forwarded-For',
      set(2),
    ],
    [
      'missing',
      { address: null, forwardedFor: `${MADE_UP}, 198.51.100.7` },
      'the process sees no address, but the outermost proxy saw 198.51.100.7: 1 proxy appends to X-Forwarded-For',
      set(1),
    ],
    [
      'missing, behind a proxy that appends no address',
      { address: null, forwardedFor: `${MADE_UP}, unknown` },
      'the process sees no address, but the outermost proxy saw unknown: 1 proxy appends to X-Forwarded-For',
      set(1),
    ],
  ])('has a wrong address: %s', async (_, found, says, remedy) => {
    const check = await seen(found);
    expect(check).toMatchObject({ outcome: 'failing', remedy });
    expect(check?.detail.split('; the process sees the host ')[0]).toBe(says);
  });

  test('has another address than this command, and no proxy appends one', async () => {
    const check = await seen({ address: 'unix socket' });
    expect(check).toMatchObject({
      outcome: 'warning',
      remedy:
        `${append}, and set trusted_proxies. Otherwise, all users have the proxy's address. If a ` +
        'router translates addresses (NAT), the difference is normal',
    });
    expect(check?.detail.split('; the process sees the host ')[0]).toBe(
      'the process sees the address unix socket, but this command sent the request from ' +
        '127.0.0.1, and no proxy appends to X-Forwarded-For',
    );
  });

  test('has the host of the public address, maybe in another header', async () => {
    const { host } = new URL(url);
    expect((await seen({ host: 'backend', forwardedHost: host }))?.detail).toContain(
      `; the process sees the host backend, and ${host} in X-Forwarded-Host; `,
    );
    for (const [found, says] of [
      [{ host: 'backend', forwardedHost: 'other' }, 'backend'],
      [{ host: null }, '(none)'],
    ] as const)
      expect(await seen(found)).toMatchObject({
        outcome: 'warning',
        detail: expect.stringContaining(
          `the process sees the host ${says} instead of ${host}, so URLs that the application ` +
            'builds from requests are wrong; no proxy',
        ) as string,
        remedy: 'make the proxy forward Host (nginx: proxy_set_header Host $host)',
      });
  });

  test.each(['http', 'HTTP', ' http , https'])(
    'has the scheme of public_url: %j',
    async (proto) => {
      expect(await seen({ forwardedProto: proto })).toMatchObject({
        outcome: 'ok',
        detail: expect.stringMatching(/; X-Forwarded-Proto is http$/) as string,
      });
    },
  );

  test('lists all problems, and begins with the worst one', async () => {
    const found = { address: MADE_UP, host: 'backend', forwardedProto: 'https, http' };
    expect(await seen(found)).toMatchObject({
      outcome: 'failing',
      detail: expect.stringMatching(
        /^the process accepted .*; the process sees the host backend instead of .*; X-Forwarded-Proto is https, but public_url uses http$/,
      ) as string,
      remedy: expect.stringMatching(
        /^if there is a proxy .*; make the proxy forward Host .*; make the outermost proxy set X-Forwarded-Proto \(nginx: proxy_set_header X-Forwarded-Proto \$scheme\)$/,
      ) as string,
    });
  });
});
