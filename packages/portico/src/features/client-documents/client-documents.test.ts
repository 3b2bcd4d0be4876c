import { describe, expect, test } from 'vitest';
import { demands } from '../../store/client-demands.fixture.ts';
import { page } from '../../pages/words.ts';
import { AuthorizationPageError } from '../../errors.ts';
import { ALGORITHMS } from '../../../../../test/support/algorithms.ts';
import { GRANT_TYPES } from '../../../../../test/support/grant-types.ts';
import { profilesWith } from '../../../../../test/support/profiles.ts';
import type { FetchJson } from '../../http/outbound/fetch-json.ts';
import { OutboundError } from '../../http/outbound/limits.ts';
import type { Client, SigningAlgorithm } from '../../store/client.ts';
import { createScopeCatalog } from '../../tokens/scopes.ts';
import type { FetchedFor } from '../../clients/client-source.ts';
import type { ClientDemand } from '../../store/client-demands.ts';
import type { SecurityProfile } from '../../profiles.ts';
import type { Server } from '../../server.ts';
import { ClientDocuments } from './client-documents.ts';
import type { DocumentClientRecords } from './records.ts';

const PROFILE = profilesWith({ profile: 'fapi2' }).servers;
const START = 1_800_000_000_000;
const HOUR = 3_600_000;
const URL_OF_IT = 'https://client.example/client.json';
const ADA: FetchedFor = { provider: 'accounts', id: 'ada' };
const DOCUMENT = { client_name: 'A', redirect_uris: ['https://client.example/callback'] };
const KEYED = {
  token_endpoint_auth_method: 'private_key_jwt',
  token_endpoint_auth_methods_supported: ['none'],
  jwks_uri: 'https://client.example/keys',
};

/** Server options that differ from the defaults. */
interface Options {
  readonly isOn?: boolean;
  readonly takesKeys?: boolean;
  readonly demands?: readonly ClientDemand[];
  readonly profile?: SecurityProfile | null;
  readonly algorithms?: readonly SigningAlgorithm[];
}

/**
 * Creates the processes of one installation. They share a clock, a table of clients, and the
 * documents that they fetch.
 */
function installation() {
  let now = START;
  const rows = new Map<string, { client: Client; freshUntil: number }>();
  const web = {
    /** Members to add to every document, or the error with which every fetch fails. */
    says: {} as object | Error,
    headers: {} as Readonly<Record<string, string>>,
    /** A promise that the responses wait for. */
    until: null as Promise<void> | null,
    asked: [] as (readonly [url: string, about: object])[],
  };
  const events: object[] = [];
  const clock = () => now;
  /** How many reads of a row there were, and how many of the next reads find no row. */
  const reads = { count: 0, blind: 0 };
  const unblocked: unknown[] = [];
  const documentClients = {
    findDocumentClient: async (url) => {
      reads.count += 1;
      const row = reads.blind > 0 ? undefined : rows.get(url);
      reads.blind -= 1;
      return row === undefined ? null : { ...row, client: { ...row.client } };
    },
    async keepDocumentClient(client, freshUntil, replaces) {
      const row = rows.get(client.id);
      const { revokedAt, createdAt } = row?.client ?? client;
      if (revokedAt !== null || createdAt > client.createdAt) return 'revoked';
      if (row !== undefined && row.freshUntil !== replaces && row.freshUntil !== freshUntil) {
        row.freshUntil = -Math.abs(row.freshUntil);
        return 'overtaken';
      }
      rows.set(client.id, { client: { ...client, createdAt }, freshUntil });
      return row === undefined ? 'new' : 'known';
    },
    unblockDocumentClient: async (...asked) => unblocked.push(asked) > 0,
  } satisfies Partial<DocumentClientRecords>;
  const fetchJson: FetchJson = async (url, about) => {
    web.asked.push([url.href, about]);
    const { says, headers } = web;
    await web.until;
    if (says instanceof Error) throw says;
    return { value: { ...DOCUMENT, client_id: url.href, ...says }, headers };
  };
  function start({ isOn = true, takesKeys = true, profile = null, ...more }: Options = {}) {
    const server = {
      config: { name: 'The portal' },
      takesKeys: () => takesKeys,
      grantTypes: () => GRANT_TYPES,
      store: { documentClients },
      fetching: {},
      audit: async (event: object) => void events.push(event),
      scopes: createScopeCatalog({ 'notes:read': 'Read notes' }),
      demands: more.demands ?? demands(),
      profiles: { servers: profile },
      keys: {
        algorithms: ALGORITHMS,
        all: async () => (more.algorithms ?? []).map((algorithm) => ({ algorithm })),
      },
      clock,
    };
    const config = isOn && { denied_hosts: ['denied.example'] };
    return new ClientDocuments(server as unknown as Server, config, fetchJson);
  }
  return {
    start,
    rows,
    reads,
    unblocked,
    web,
    events,
    at: (milliseconds: number) => void (now = START + milliseconds),
    /** Returns how often this document was fetched. */
    fetched: (url = URL_OF_IT) => web.asked.filter(([each]) => each === url).length,
  };
}

/** Returns the error page that this call throws. */
async function pageOf(what: () => unknown): Promise<AuthorizationPageError> {
  try {
    await what();
  } catch (error) {
    if (error instanceof AuthorizationPageError) return error;
    throw error;
  }
  throw new Error('It did not end with a page');
}

describe('A client id', () => {
  test('is the URL of a document if it is https and documents are enabled', () => {
    const { start } = installation();
    expect(start().names(URL_OF_IT)).toBe(true);
    expect(start().names('0123456789abcdef0123456789abcdef')).toBe(false);
    expect(start({ isOn: false }).names(URL_OF_IT)).toBe(false);
  });

  test('with a host that is not allowed causes an error page and no fetch', async () => {
    const { start, web } = installation();
    const documents = start();
    documents.require(URL_OF_IT);
    const error = await pageOf(() =>
      documents.require('https://denied.example/client.json?secret=1'),
    );
    expect(error.text).toEqual(page('error.untaken_client', { server: 'The portal' }));
    expect(error.detail).toBe(
      'the client_id "https://denied.example/client.json?…" cannot be used: denied.example is one of denied_hosts',
    );
    expect(web.asked).toEqual([]);
  });
});

describe('A client document', () => {
  test('is fetched for a request, and describes the client', async () => {
    const { start, web } = installation();
    expect(await start().find(URL_OF_IT, ADA, [])).toEqual({
      id: URL_OF_IT,
      name: 'A',
      redirectUris: ['https://client.example/callback'],
      scopes: ['openid', 'profile', 'email', 'notes:read'],
      grants: ['authorization_code'],
      idTokenSignedResponseAlg: 'RS256',
      public: true,
      applicationType: 'web',
      registeredBy: 'document',
      keys: null,
      pushesRequests: false,
      dpopBoundAccessTokens: false,
      profile: null,
      secretHash: null,
      secretExpiresAt: null,
      previousSecretHash: null,
      previousSecretExpiresAt: null,
      createdAt: START,
      usedAt: null,
      revokedAt: null,
    });
    const other = 'https://client.example/other.json';
    await start().find(other, { network: '192.0.2.0' }, []);
    expect(web.asked).toEqual([
      [URL_OF_IT, { limit: 5120, person: '["accounts","ada"]', isKnown: false }],
      [other, { limit: 5120, person: '192.0.2.0', isStranger: true, isKnown: false }],
    ]);
  });

  test('with keys describes a confidential client, and its keys must be on an allowed host', async () => {
    const { start, web } = installation();
    web.says = KEYED;
    const keys = { jwks: null, jwksUri: KEYED.jwks_uri, algorithm: null };
    expect(await start().find(URL_OF_IT, ADA, [])).toMatchObject({ public: false, keys });
    web.says = { ...KEYED, jwks_uri: 'https://denied.example/keys' };
    const { detail } = await pageOf(() => start().find(URL_OF_IT, ADA, []));
    expect(detail).toContain('its jwks_uri cannot be used: denied.example is one of denied_hosts');
  });

  test.each<[string, Options, SigningAlgorithm]>([
    ['no profile', { algorithms: ['ES256'] }, 'RS256'],
    ['a profile, and both keys', { profile: PROFILE, algorithms: ['EdDSA', 'ES256'] }, 'ES256'],
    ['a profile, and the other key', { profile: PROFILE, algorithms: ['RS256', 'EdDSA'] }, 'EdDSA'],
    ['a profile, and no key yet', { profile: PROFILE }, 'ES256'],
  ])(
    'that names no ID token algorithm gets a default one, with %s',
    async (_, options, algorithm) => {
      const { start } = installation();
      expect(await start(options).find(URL_OF_IT, ADA, [])).toMatchObject({
        idTokenSignedResponseAlg: algorithm,
      });
    },
  );

  test('that is invalid causes an error page without its content, and is fetched again', async () => {
    const { start, web, fetched } = installation();
    const documents = start();
    const refusedBy = async (says: object | Error) => {
      web.says = says;
      const error = await pageOf(() => documents.find(`${URL_OF_IT}?secret=1`, ADA, []));
      expect(error.text).toEqual(
        page('error.unread_client', { host: 'client.example', server: 'The portal' }),
      );
      const before = `the document of the client "${URL_OF_IT}?…" cannot be used: `;
      expect(error.detail?.startsWith(before)).toBe(true);
      return [error.detail?.slice(before.length), error.retryAfter];
    };
    expect(await refusedBy({ client_name: '' })).toEqual([
      expect.stringContaining('client_name'),
      null,
    ]);
    expect(await refusedBy(new OutboundError('it answered 500'))).toEqual([
      'it answered 500',
      null,
    ]);
    expect(await refusedBy(new OutboundError('too many', 7))).toEqual(['too many', 7]);
    const fault = new TypeError('a fault of ours');
    web.says = fault;
    await expect(documents.find(`${URL_OF_IT}?secret=1`, ADA, [])).rejects.toBe(fault);
    web.says = {};
    expect(await documents.find(`${URL_OF_IT}?secret=1`, ADA, [])).toMatchObject({ name: 'A' });
    expect(fetched(`${URL_OF_IT}?secret=1`)).toBe(5);
  });

  test('is fetched once for simultaneous requests, even if the fetch fails', async () => {
    const { start, web, fetched } = installation();
    const documents = start();
    let go = () => {};
    const ask = async (count: number) => {
      web.until = new Promise((resolve) => (go = resolve));
      const asking = Array.from({ length: count }, () => documents.find(URL_OF_IT, ADA, []));
      await Promise.resolve();
      go();
      return Promise.allSettled(asking);
    };
    web.says = { client_name: '' };
    expect((await ask(3)).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'rejected',
    ]);
    expect(fetched()).toBe(1);
    web.says = {};
    const found = (await ask(3)).map((each) => (each.status === 'fulfilled' ? each.value : null));
    expect(fetched()).toBe(2);
    expect(new Set(found).size).toBe(1);
  });
});

describe('A fetched client document', () => {
  test('is cached while it is fresh', async () => {
    const { start, web, at, fetched } = installation();
    const documents = start();
    web.headers = { 'cache-control': 'max-age=600' };
    const first = await documents.find(URL_OF_IT, ADA, []);
    web.says = { client_name: 'B' };
    at(599_999);
    expect(await documents.find(URL_OF_IT, ADA, [])).toBe(first);
    at(600_000);
    expect(await documents.find(URL_OF_IT, ADA, [])).toMatchObject({ name: 'B' });
    expect(fetched()).toBe(2);
  });

  test('is fetched again if the clock was set back by more than the longest lifetime', async () => {
    const { start, web, at, fetched } = installation();
    const [one, other] = [start(), start()];
    web.headers = { 'cache-control': 'max-age=86400' };
    await one.keep(await one.find(URL_OF_IT, ADA, []));
    at(-1);
    await one.find(URL_OF_IT, ADA, []);
    await other.find(URL_OF_IT, ADA, []);
    expect(fetched()).toBe(3);
    at(0);
    await one.find(URL_OF_IT, ADA, []);
    expect(fetched()).toBe(3);
  });

  test('is cached with at most 99 others, and the one fetched longest ago is dropped', async () => {
    const { start, web, at, fetched } = installation();
    const documents = start();
    const urlOf = (number: number) => `https://client.example/${number}.json`;
    const find = (number: number) => documents.find(urlOf(number), ADA, []);
    web.headers = { 'cache-control': 'max-age=600' };
    await find(0);
    web.headers = {};
    for (let number = 1; number < 100; number += 1) await find(number);
    at(599_999);
    for (let number = 0; number < 100; number += 1) await find(number);
    expect(web.asked).toHaveLength(100);
    at(600_000);
    // Document 0 is fetched again, so it is now the newest. Document 1 is now the oldest.
    await find(0);
    await find(100);
    for (const number of [0, 2, 99, 100, 1]) await find(number);
    expect([0, 1, 2, 99, 100].map((number) => fetched(urlOf(number)))).toEqual([2, 2, 1, 1, 1]);
  });

  test('that was shown to a person is stored for all processes, with one event', async () => {
    const { start, rows, events, fetched } = installation();
    const [one, other] = [start(), start()];
    const client = await one.find(URL_OF_IT, ADA, []);
    expect([rows.size, events]).toEqual([0, []]);
    await one.keep(client);
    expect(rows.get(URL_OF_IT)).toEqual({ client, freshUntil: START + HOUR });
    expect(await other.find(URL_OF_IT, ADA, ['notes:read'])).toEqual(client);
    expect(fetched()).toBe(1);
    expect(events).toEqual([
      { type: 'client_registered', clientId: URL_OF_IT, registeredBy: 'document' },
    ]);
  });

  test('is stored once, and only by the process that fetched it', async () => {
    const { start, rows, events } = installation();
    const [one, other] = [start(), start()];
    const client = await one.find(URL_OF_IT, ADA, []);
    await other.keep(client);
    expect(rows.size).toBe(0);
    await one.keep(client);
    rows.clear();
    await one.keep(client);
    expect(rows.size).toBe(0);
    expect(events).toHaveLength(1);
  });

  test('that is already known is fetched again without an event', async () => {
    const { start, web, events, at, rows } = installation();
    const documents = start();
    await documents.keep(await documents.find(URL_OF_IT, ADA, []));
    at(HOUR);
    web.says = { client_name: 'B' };
    await documents.keep(await documents.find(URL_OF_IT, ADA, []));
    expect(web.asked.map(([, about]) => about)).toMatchObject([
      { isKnown: false },
      { isKnown: true },
    ]);
    expect(rows.get(URL_OF_IT)).toMatchObject({
      client: { name: 'B' },
      freshUntil: START + 2 * HOUR,
    });
    expect(events).toHaveLength(1);
  });

  test('is not shown if its client was revoked meanwhile', async () => {
    const { start, rows, events } = installation();
    const documents = start();
    const client = await documents.find(URL_OF_IT, ADA, []);
    rows.set(URL_OF_IT, { client: { ...client, revokedAt: START }, freshUntil: 0 });
    const error = await pageOf(() => documents.keep(client));
    expect(error.detail).toBe(
      `the document of the client "${URL_OF_IT}" cannot be used: it was revoked`,
    );
    expect(events).toEqual([]);
  });

  test('of a revoked client is neither used nor fetched again', async () => {
    const { start, rows, web, at } = installation();
    const documents = start();
    const client = await documents.find(URL_OF_IT, ADA, []);
    rows.set(URL_OF_IT, { client: { ...client, name: 'Gone', revokedAt: START }, freshUntil: 0 });
    expect(await documents.find(URL_OF_IT, ADA, [])).toMatchObject({
      name: 'Gone',
      revokedAt: START,
    });
    at(HOUR);
    expect(await documents.find(URL_OF_IT, ADA, [])).toMatchObject({ name: 'Gone' });
    expect(web.asked).toHaveLength(1);
  });
});

describe('A cached client document', () => {
  test('is dropped when its stored row is gone', async () => {
    const { start, rows, fetched } = installation();
    const documents = start();
    await documents.keep(await documents.find(URL_OF_IT, ADA, []));
    await documents.find(URL_OF_IT, ADA, []);
    expect(fetched()).toBe(1);
    rows.clear();
    await documents.find(URL_OF_IT, ADA, []);
    expect(fetched()).toBe(2);
  });

  test('is not fetched again if another request stores it between two reads', async () => {
    const { start, reads, fetched } = installation();
    const documents = start();
    const client = await documents.find(URL_OF_IT, ADA, []);
    reads.count = 0;
    expect(await documents.find(URL_OF_IT, ADA, [])).toBe(client);
    expect(reads.count).toBe(1);
    await documents.keep(client);
    await documents.find(URL_OF_IT, ADA, []);
    expect(reads.count).toBe(2);
    reads.blind = 1;
    expect(await documents.find(URL_OF_IT, ADA, [])).toEqual(client);
    expect([reads.count, fetched()]).toEqual([4, 1]);
  });

  test('is not used once an operator has blocked and unblocked its client', async () => {
    const { start, rows, at } = installation();
    const documents = start();
    const client = await documents.find(URL_OF_IT, ADA, []);
    await documents.keep(client);
    at(1);
    const later = { ...client, name: 'B', createdAt: START + 1 };
    rows.set(URL_OF_IT, { client: later, freshUntil: START + HOUR });
    expect((await documents.find(URL_OF_IT, ADA, [])).name).toBe('B');
  });

  test('is fetched again after a different process has overtaken it', async () => {
    const { start, rows, fetched } = installation();
    const documents = start();
    const stored = await documents.find(URL_OF_IT, ADA, []);
    rows.set(URL_OF_IT, { client: stored, freshUntil: -(START + 2 * HOUR) });
    const client = await documents.find(URL_OF_IT, ADA, []);
    expect(fetched()).toBe(2);
    rows.set(URL_OF_IT, { client: { ...stored, name: 'B' }, freshUntil: START + 2 * HOUR });
    await documents.keep(client);
    await documents.find(URL_OF_IT, ADA, []);
    expect(fetched()).toBe(3);
  });

  test('is valid until a different process stores a later version', async () => {
    const { start, web, at, fetched } = installation();
    const [one, other] = [start(), start()];
    web.headers = { 'cache-control': 'max-age=3600' };
    await one.keep(await one.find(URL_OF_IT, ADA, []));
    at(HOUR);
    web.says = { client_name: 'B' };
    const second = await one.find(URL_OF_IT, ADA, []);
    await other.find(URL_OF_IT, ADA, []);
    at(HOUR + 1000);
    expect(await one.find(URL_OF_IT, ADA, [])).toBe(second);
    await other.find('https://client.example/another.json', ADA, []);
    at(2 * HOUR);
    web.says = { client_name: 'C' };
    await other.keep(await other.find(URL_OF_IT, ADA, []));
    at(HOUR + 2000);
    expect(await one.find(URL_OF_IT, ADA, [])).toMatchObject({ name: 'C' });
    expect(fetched()).toBe(4);
  });

  // @shows AS-21.7
  test('does not replace a later version that has a shorter lifetime', async () => {
    const { start, web, at, rows } = installation();
    const [one, other] = [start(), start()];
    web.headers = { 'cache-control': 'max-age=300' };
    await one.keep(await one.find(URL_OF_IT, ADA, []));
    at(300_000);
    web.headers = { 'cache-control': 'max-age=86400' };
    await one.find(URL_OF_IT, ADA, []);
    // The client removes its redirect URI, and asks caches to check again soon.
    web.headers = { 'cache-control': 'max-age=300' };
    const redirectUris = ['https://client.example/new'];
    web.says = { redirect_uris: redirectUris };
    at(301_000);
    await other.keep(await other.find(URL_OF_IT, ADA, []));
    at(302_000);
    const found = await one.find(URL_OF_IT, ADA, []);
    await one.keep(found);
    expect(found).toMatchObject({ redirectUris });
    expect(rows.get(URL_OF_IT)?.client).toMatchObject({ redirectUris });
  });

  // @shows AS-21.7
  test('does not replace a later version that a different process has stored since', async () => {
    const { start, web, at } = installation();
    const [one, other] = [start(), start()];
    web.headers = { 'cache-control': 'max-age=86400' };
    await one.keep(await one.find(URL_OF_IT, ADA, []));
    at(24 * HOUR);
    const earlier = await one.find(URL_OF_IT, ADA, []);
    const redirectUris = ['https://client.example/new'];
    web.says = { redirect_uris: redirectUris };
    at(24 * HOUR + 1);
    await other.keep(await other.find(URL_OF_IT, ADA, []));
    await one.keep(earlier);
    at(24 * HOUR + 2);
    for (const each of [one, other, start()])
      expect(await each.find(URL_OF_IT, ADA, [])).toMatchObject({ redirectUris });
  });

  test('is invalid after the client was unblocked later', async () => {
    const { start, rows, fetched } = installation();
    const documents = start();
    const client = await documents.find(URL_OF_IT, ADA, []);
    await documents.keep(client);
    rows.set(URL_OF_IT, {
      client: { ...client, redirectUris: [], grants: [], createdAt: START + 1 },
      freshUntil: START + 1,
    });
    await documents.find(URL_OF_IT, ADA, []);
    expect(fetched()).toBe(2);
  });

  test('is not fetched again for a scope that the document does not contain', async () => {
    const { start, web, fetched } = installation();
    const documents = start();
    web.says = { scope: 'openid' };
    await documents.keep(await documents.find(URL_OF_IT, ADA, ['notes:read']));
    await documents.find(URL_OF_IT, ADA, ['notes:read']);
    expect(fetched()).toBe(1);
  });
});

describe('A client document that a different process stored', () => {
  /** Counts the fetches of a new process after another process has stored the document. */
  async function refetched(
    says: object,
    {
      options = {},
      scopes = [],
      after = 0,
      row = {},
    }: Readonly<{
      options?: Options;
      scopes?: readonly string[];
      after?: number;
      row?: Partial<Client>;
    }> = {},
  ): Promise<number> {
    const { start, web, at, fetched, rows } = installation();
    web.says = says;
    const one = start();
    await one.keep(await one.find(URL_OF_IT, ADA, []));
    const kept = rows.get(URL_OF_IT);
    if (kept !== undefined) kept.client = { ...kept.client, ...row };
    at(after);
    await pageOrClient(() => start(options).find(URL_OF_IT, ADA, scopes));
    return fetched() - 1;
  }
  const pageOrClient = (find: () => Promise<Client>) =>
    find().catch((error: unknown) => {
      if (!(error instanceof AuthorizationPageError)) throw error;
    });

  test.each([
    ['it is fresh', {}, { after: HOUR - 1 }],
    ['clients may have keys', KEYED, {}],
    ['clients cannot have keys, and it contains none', {}, { options: { takesKeys: false } }],
    ['clients may demand bound tokens', { dpop_bound_access_tokens: true }, {}],
    [
      'clients cannot require bound tokens, and it does not',
      {},
      { options: { demands: demands({ bound: false }) } },
    ],
    [
      'the profile allows its algorithm',
      { id_token_signed_response_alg: 'ES256' },
      { options: { profile: PROFILE } },
    ],
    [
      'it has all requested scopes',
      { scope: 'openid notes:read' },
      { scopes: ['notes:read', 'openid'] },
    ],
    [
      'the requested scope is not offered by the server',
      { scope: 'openid' },
      { scopes: ['openid', 'unheard:of'] },
    ],
  ])('is used when %s', async (_, says, how) => {
    expect(await refetched(says, how)).toBe(0);
  });

  test.each([
    ['it is not fresh', {}, { after: HOUR }],
    ['clients can no longer have keys', KEYED, { options: { takesKeys: false } }],
    [
      'bound tokens are no longer issued',
      { dpop_bound_access_tokens: true },
      { options: { demands: demands({ bound: false }) } },
    ],
    ['there is a profile now', {}, { options: { profile: PROFILE } }],
    [
      'the server now offers a requested scope',
      { scope: 'openid' },
      { scopes: ['openid', 'notes:read'] },
    ],
    ['it was unblocked, and has not been read since', {}, { row: { grants: [] } }],
  ])('is fetched again when %s', async (_, says, how) => {
    expect(await refetched(says, how)).toBe(1);
  });
});

test('The URL of a blocked client is unblocked now', async () => {
  const { start, unblocked, at } = installation();
  at(1000);
  expect(await start().unblock(URL_OF_IT)).toBe(true);
  expect(unblocked).toEqual([[URL_OF_IT, START + 1000]]);
});

test('The keys of a document are read, and a document without usable keys cannot be used', () => {
  const documents = installation().start();
  const document = { ...DOCUMENT, ...KEYED, client_id: URL_OF_IT };
  expect(documents.keysIn(document, URL_OF_IT)).toEqual({
    jwks: null,
    jwksUri: KEYED.jwks_uri,
    algorithm: null,
  });
  for (const [changes, says] of [
    [{ jwks_uri: 'https://denied.example/keys' }, 'denied.example is one of denied_hosts'],
    [{ token_endpoint_auth_method: 'none' }, 'its method is now none'],
  ] as const) {
    const read = () => documents.keysIn({ ...document, ...changes }, URL_OF_IT);
    expect(read).toThrow(OutboundError);
    expect(read).toThrow(says);
  }
  const broken = Object.defineProperty({ ...document }, 'jwks', {
    enumerable: true,
    get() {
      throw new TypeError('a fault');
    },
  });
  expect(() => documents.keysIn(broken, URL_OF_IT)).toThrow(TypeError);
});
