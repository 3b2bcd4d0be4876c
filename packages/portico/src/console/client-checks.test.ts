import { describe, expect, test } from 'vitest';
import { profilesWith } from '../../../../test/support/profiles.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import type { Client } from '../store/client.ts';
import { examineClientDemands } from './client-demand-checks.ts';
import { examineClientKeys, examinePublishedKeys } from './client-key-checks.ts';
import { everyClient } from './every-client.ts';
import { examineProfile } from './profile-checks.ts';
import type { Subject } from './subject.ts';

const APPLIED = [{ name: 'a', appliedAt: '2026-01-01T00:00:00Z' }];
const PENDING = [{ name: 'a', appliedAt: null }];

/** A server that has these clients, two on each page. */
function subjectWith(
  clients: readonly Client[],
  server: object,
  migrations: readonly object[] = APPLIED,
): Subject {
  const page = async ({ after = '0' }: { readonly after?: string }) => {
    const next = Number(after) + 2;
    return {
      items: clients.slice(Number(after), next),
      next: next < clients.length ? String(next) : null,
    };
  };
  return {
    application: { migrations: async () => migrations },
    server: { clients: { page }, ...server },
  } as unknown as Subject;
}

describe('the clients that authenticate with their own keys', () => {
  const stored = { jwks: '{"keys":[]}', jwksUri: null, algorithm: null };
  const published = { jwks: null, jwksUri: 'https://client.example/keys', algorithm: null };
  const workload = { ...stored, workload: { issuer: 'https://idp.example', subject: 'x' } };
  const one = storedClient('one', 2, { keys: stored });
  const two = storedClient('two', 1, { keys: published });
  const others = [
    storedClient('secret', 3),
    storedClient('gone', 4, { keys: stored, revokedAt: 5 }),
    storedClient('document', 6, { keys: stored, registeredBy: 'document' }),
    storedClient('workload', 7, { keys: workload }),
  ];
  const on = (problems: Readonly<Record<string, readonly string[]>> = {}) => ({
    takesKeys: true,
    clientKeyProblems: async ({ id }: Client) => problems[id] ?? [],
  });
  const off = { takesKeys: false };

  test('are not reported if there are none, or if a migration is missing', async () => {
    expect(await examineClientKeys(subjectWith(others, off))).toEqual([]);
    expect(await examineClientKeys(subjectWith([one], off, PENDING))).toEqual([]);
  });

  test('cannot authenticate while private_key_jwt is off, oldest first', async () => {
    const found = await examineClientKeys(subjectWith([one, ...others, two], off));
    expect(found).toMatchObject([
      {
        part: 'client keys',
        outcome: 'failing',
        detail:
          'oauth_server:private_key_jwt is off, so these clients cannot authenticate: two, one',
      },
    ]);
    expect(await examinePublishedKeys(subjectWith([two], off).server)).toEqual([]);
  });

  test('are counted, and those with keys at a URL are counted separately', async () => {
    const detail = 'clients that authenticate with private_key_jwt: ';
    const elsewhere = '2; 1 of them publish their keys (to check these keys, add --online)';
    // The keys at the URL are not fetched.
    const subject = subjectWith([one, ...others, two], on({ two: ['not fetched'] }));
    expect(await examineClientKeys(subject)).toEqual([
      { part: 'client keys', outcome: 'ok', detail: detail + elsewhere, remedy: null },
    ]);
    expect(await examineClientKeys(subjectWith([one], on()))).toMatchObject([
      { outcome: 'ok', detail: `${detail}1` },
    ]);
  });

  test('are reported with the problems of the keys that the server stores', async () => {
    const three = storedClient('three', 3, { keys: stored });
    const problems = { one: ['a', 'b'], three: ['c'] };
    expect(await examineClientKeys(subjectWith([one, three], on(problems)))).toEqual([
      {
        part: 'client keys',
        outcome: 'warning',
        detail: 'the keys of one: a; b. the keys of three: c',
        remedy:
          "tell the client's operator. Until Portico can use the keys, the client cannot " +
          'authenticate',
      },
    ]);
  });

  test('with --online are reported with the problems of the keys at their URL', async () => {
    const problems = { one: ['not stored'], two: ['a'] };
    const found = await examinePublishedKeys(subjectWith([one, two], on(problems)).server);
    expect(found).toMatchObject([{ outcome: 'warning', detail: 'the keys of two: a' }]);
    expect(await examinePublishedKeys(subjectWith([one, two], on()).server)).toEqual([
      { outcome: 'ok', detail: 'clients whose keys were fetched: 1', remedy: null },
    ]);
    expect(await examinePublishedKeys(subjectWith([one, ...others], on()).server)).toEqual([]);
  });
});

describe('the clients that demand a protection', () => {
  const demand = (key: string, field: string, isMet: boolean) => ({
    key,
    field,
    isMet,
    effect: `these fail without ${key}`,
  });
  const demands = (isMet: boolean) => ({
    demands: [
      demand('pushed', 'pushesRequests', isMet),
      demand('met', 'public', true),
      demand('dpop', 'dpopBoundAccessTokens', isMet),
      demand('resources', 'public', isMet),
    ],
  });
  const clients = [
    storedClient('plain', 1, { public: true }),
    storedClient('both', 3, { pushesRequests: true, dpopBoundAccessTokens: true }),
    storedClient('pushing', 2, { pushesRequests: true }),
    storedClient('held', 4, { pushesRequests: true, profile: 'fapi2' }),
    storedClient('document', 5, { pushesRequests: true, registeredBy: 'document' }),
    storedClient('gone', 6, { pushesRequests: true, revokedAt: 7 }),
  ];

  test('are reported for each feature that is off, in alphabetical order', async () => {
    const found = await examineClientDemands(subjectWith(clients, demands(false)));
    expect(found).toMatchObject([
      {
        part: 'client demands',
        outcome: 'failing',
        detail: 'oauth_server:dpop is off, so these fail without dpop: both',
      },
      {
        part: 'client demands',
        outcome: 'failing',
        detail: 'oauth_server:pushed is off, so these fail without pushed: pushing, both',
      },
      {
        part: 'client demands',
        outcome: 'failing',
        detail: 'oauth_server:resources is off, so these fail without resources: plain',
      },
    ]);
  });

  test('are not reported for a feature that no client demands', async () => {
    const found = await examineClientDemands(subjectWith(clients.slice(2, 3), demands(false)));
    expect(found.map(({ detail }) => detail)).toEqual([
      'oauth_server:pushed is off, so these fail without pushed: pushing',
    ]);
  });

  test('are not read if all features are on, or if a migration is missing', async () => {
    const unreadable = {
      clients: {
        page() {
          throw new Error('The clients are read');
        },
      },
    };
    for (const subject of [
      subjectWith(clients, { ...demands(true), ...unreadable }),
      subjectWith(clients, { ...demands(false), ...unreadable }, PENDING),
    ])
      expect(await examineClientDemands(subject)).toEqual([]);
  });
});

describe('the security profile', () => {
  const all = { dpop: 'accept', private_key_jwt: true, pushed_authorization_requests: 'accept' };
  const able = {
    pushesRequests: true,
    dpopBoundAccessTokens: true,
    keys: { jwks: null, jwksUri: 'https://client.example/keys', algorithm: null },
    idTokenSignedResponseAlg: 'ES256',
    secretHash: null,
  } as const;
  const plain = storedClient('plain', 1);
  const held = storedClient('held', 2, { ...able, profile: 'fapi2' });
  const wrong = storedClient('wrong', 3, { profile: 'fapi2' });
  const unknown = storedClient('unknown', 4, { profile: 'fapi9' });

  const examined = (config: object, clients: readonly Client[], algorithms = ['RS256', 'ES256']) =>
    examineProfile(
      subjectWith(clients, {
        profiles: profilesWith(config),
        config: { key_path: '/keys' },
        keys: { all: async () => algorithms.map((algorithm) => ({ algorithm })) },
      }),
    );

  test('is not reported if neither the server nor a client has one', async () => {
    expect(await examined(all, [])).toEqual([]);
    expect(await examined(all, [plain])).toEqual([]);
    const gone = storedClient('gone', 1, { ...able, profile: 'fapi2', revokedAt: 2 });
    expect(await examined(all, [gone])).toEqual([]);
  });

  test('of clients is met', async () => {
    const another = storedClient('another', 9, { ...able, profile: 'fapi2' });
    // The keys do not matter, because the server has no profile.
    expect(await examined(all, [plain, held, another], [])).toEqual([
      {
        outcome: 'ok',
        detail: 'clients that must meet a profile: 2 (fapi2); all of them do',
        remedy: null,
      },
    ]);
  });

  test('of a client that does not meet it makes the check fail', async () => {
    const found = await examined(all, [unknown, plain, held, wrong]);
    expect(found).toMatchObject([
      {
        outcome: 'failing',
        detail: expect.stringMatching(
          /^these clients cannot get tokens, because they do not meet their profile: wrong: \S.*; unknown: \S/,
        ) as string,
        remedy: expect.stringMatching(/\(oauth:client:create --profile fapi2\)$/) as string,
      },
    ]);
    expect(found[0]?.detail).not.toContain('held');
  });

  test('of the server is a warning about clients without a profile of their own', async () => {
    const config = { profile: 'fapi2' };
    expect(await examined(config, [plain, held])).toMatchObject([
      {
        outcome: 'warning',
        detail: expect.stringMatching(/their profile: plain: /) as string,
        remedy: expect.stringMatching(/--profile fapi2\)$/) as string,
      },
    ]);
    expect(await examined(config, [plain, wrong])).toMatchObject([{ outcome: 'failing' }]);
    expect(await examined(config, [held])).toEqual([
      {
        outcome: 'ok',
        detail: 'every client must meet the profile fapi2; clients checked: 1',
        remedy: null,
      },
    ]);
  });

  test('of the server needs a signing key that it allows', async () => {
    expect(await examined({ profile: 'fapi2' }, [plain], ['RS256'])).toMatchObject([
      {
        outcome: 'failing',
        detail: expect.stringMatching(
          /^there is no signing key for \w+(?: or \w+)+ in \/keys, so requests for openid fail$/,
        ) as string,
        remedy: expect.stringMatching(/^run npx portico oauth:keys:generate --alg \w+$/) as string,
      },
    ]);
  });

  test('of the server is checked if the clients cannot be read', async () => {
    const page = async () => {
      throw new Error('The store is away');
    };
    const subject = (config: object) =>
      subjectWith([], {
        clients: { page },
        profiles: profilesWith(config),
        keys: { all: async () => [{ algorithm: 'ES256' }] },
      });
    expect(await examineProfile(subject({ profile: 'fapi2' }))).toMatchObject([{ outcome: 'ok' }]);
    expect(await examineProfile(subject(all))).toEqual([]);
  });
});

test('the clients are read page by page', async () => {
  const clients = [1, 2, 3, 4, 5].map((number) => storedClient(String(number), number));
  const found: string[] = [];
  for await (const { id } of everyClient(subjectWith(clients, {}).server)) found.push(id);
  expect(found).toEqual(['1', '2', '3', '4', '5']);
});
