// @engines sqlite: MCP hosts see no difference between engines
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from './support/console.ts';
import { startTwoEndpoints, type BareHost } from './support/mcp/bare-host.ts';
import { HOST_PROFILES, type HostProfile } from './support/mcp/host-profiles.ts';
import { ReplayedHost, type HostTokens } from './support/mcp/replayed-host.ts';

/**
 * Each MCP host connects to one application with the configuration in
 * docs/connecting-assistants.md. The voice assistant uses `/mcp`, which sends no challenge. The
 * others use an endpoint that sends challenges.
 */

let host: BareHost;

beforeAll(async () => {
  host = await startTwoEndpoints();
});
afterAll(() => host.close());

const connected = async (profile: HostProfile) => {
  const replayed = new ReplayedHost(profile, host);
  return { replayed, tokens: await replayed.connect() };
};

describe.each(HOST_PROFILES)('$name', (profile) => {
  test('finds the server, connects and calls a tool', async () => {
    const { replayed, tokens } = await connected(profile);
    const answer = await replayed.call(tokens.access_token, 'my_account');
    expect(await answer.text()).toContain('Ada Lovelace');
  });

  test('refreshes from three processes simultaneously, and each process can continue', async () => {
    const { replayed, tokens } = await connected(profile);
    const answers = await replayed.refreshAll(tokens.refresh_token, 3);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const answer of answers) {
      const { access_token: fresh } = (await answer.json()) as HostTokens;
      expect(await (await replayed.call(fresh, 'my_account')).text()).toContain('Ada Lovelace');
    }
  });

  test('gets invalid_token and invalid_grant after the person removes its access', async () => {
    const { replayed, tokens } = await connected(profile);
    await replayed.removeAccess();
    const called = await replayed.call(tokens.access_token, 'my_account');
    expect(called.status).toBe(401);
    const challenge = called.headers.get('www-authenticate') ?? 'none';
    expect(challenge).toContain(profile.path === undefined ? 'error="invalid_token"' : 'none');
    const refreshed = await replayed.token({
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
    });
    expect(refreshed.status).toBe(400);
    expect(await refreshed.json()).toMatchObject({ error: 'invalid_grant' });
  });
});

test('every supported host has a page in docs/connecting', () => {
  const index = readFileSync(path.join(ROOT, 'docs', 'connecting', 'README.md'), 'utf8');
  const without = HOST_PROFILES.filter(({ name }) => !index.includes(`| [${name}](`));
  expect(without.map(({ name }) => name)).toEqual([]);
});

const ASKS_FOR_ALL = HOST_PROFILES.filter(({ scopes }) => scopes === 'the authorization server');
const ASKS_FOR_SOME = HOST_PROFILES.filter(
  (profile) => !ASKS_FOR_ALL.includes(profile) && profile.path === undefined,
);
const UNCHALLENGED = HOST_PROFILES.filter(({ path }) => path !== undefined);

test.each(ASKS_FOR_ALL)(
  '$name, which requests all scopes in one request, can call every tool',
  async (profile) => {
    const { replayed, tokens } = await connected(profile);
    expect(await (await replayed.call(tokens.access_token, 'my_orders')).text()).toContain('soup');
  },
);

test.each(ASKS_FOR_SOME)('$name gets the additional scope that a tool needs', async (profile) => {
  const { replayed, tokens } = await connected(profile);
  const refused = await replayed.call(tokens.access_token, 'my_orders');
  expect(refused.status).toBe(403);
  expect(replayed.scopesOf(refused)?.split(' ')).toContain('orders:read');
});

test.each(ASKS_FOR_SOME.filter(({ stepsUp }) => stepsUp))(
  '$name sends a new request with the additional scope, and keeps its earlier scopes',
  async (profile) => {
    const { replayed, tokens } = await connected(profile);
    const named = replayed.scopesOf(await replayed.call(tokens.access_token, 'my_orders'));
    const { access_token: wider } = await replayed.authorize(named ?? '');
    expect(await (await replayed.call(wider, 'my_orders')).text()).toContain('soup');
    expect(await (await replayed.call(wider, 'my_account')).text()).toContain('Ada Lovelace');
  },
);

describe.each(UNCHALLENGED)('$name, which requires refusals without a challenge,', (profile) => {
  test('gets these without a token, with a token of a different endpoint, and with too few scopes', async () => {
    const { replayed, tokens } = await connected(profile);
    const [challenged] = ASKS_FOR_SOME;
    const elsewhere = await connected(challenged ?? profile);
    const answers = [
      await replayed.call('', 'my_account'),
      await replayed.call(elsewhere.tokens.access_token, 'my_account'),
      await replayed.call(tokens.access_token, 'my_orders'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 403]);
    expect(answers.map(({ headers }) => headers.get('www-authenticate'))).toEqual([
      null,
      null,
      null,
    ]);
  });

  test('calls as a service, and gets the error that a personal tool needs a linked account', async () => {
    const { assistant } = host;
    const accessToken = await assistant.serviceToken();
    const { replayed } = await connected(profile);
    expect(await (await replayed.call(accessToken, 'service_status')).text()).toContain('result');
    expect((await replayed.call(accessToken, 'my_account')).status).toBe(401);
  });

  test('cannot use its token at the other endpoint', async () => {
    const { tokens } = await connected(profile);
    const [challenged] = ASKS_FOR_SOME;
    const other = new ReplayedHost(challenged ?? profile, host);
    expect((await other.call(tokens.access_token, 'my_account')).status).toBe(401);
  });
});
