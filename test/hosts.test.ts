// @engines sqlite: hosts see no difference
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBareHost, type BareHost } from './support/mcp/bare-host.ts';
import { HOST_PROFILES, type HostProfile } from './support/mcp/host-profiles.ts';
import { ReplayedHost, type HostTokens } from './support/mcp/replayed-host.ts';

/**
 * Each MCP host connects to one application with one configuration, that of
 * docs/connecting-assistants.md.
 */

let host: BareHost;

beforeAll(async () => {
  host = await startBareHost();
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

  test(`refreshes from ${profile.processes} processes at once, and each can go on`, async () => {
    const { replayed, tokens } = await connected(profile);
    const answers = await replayed.refreshAll(tokens.refresh_token);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const answer of answers) {
      const { access_token: fresh } = (await answer.json()) as HostTokens;
      expect(await (await replayed.call(fresh, 'my_account')).text()).toContain('Ada Lovelace');
    }
  });

  test('is refused with invalid_token and invalid_grant after the person removes its access', async () => {
    const { replayed, tokens } = await connected(profile);
    await replayed.removeAccess();
    const called = await replayed.call(tokens.access_token, 'my_account');
    expect(called.status).toBe(401);
    expect(called.headers.get('www-authenticate')).toContain('error="invalid_token"');
    const refreshed = await replayed.token({
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
    });
    expect(refreshed.status).toBe(400);
    expect(await refreshed.json()).toMatchObject({ error: 'invalid_grant' });
  });
});

const ASKS_FOR_ALL = HOST_PROFILES.filter(({ scopes }) => scopes === 'the authorization server');
const ASKS_FOR_SOME = HOST_PROFILES.filter((profile) => !ASKS_FOR_ALL.includes(profile));

test.each(ASKS_FOR_ALL)('$name, which asks for all scopes at once, calls every tool', async (profile) => {
  const { replayed, tokens } = await connected(profile);
  expect(await (await replayed.call(tokens.access_token, 'my_orders')).text()).toContain('soup');
});

test.each(ASKS_FOR_SOME)('$name learns which scope another tool needs', async (profile) => {
  const { replayed, tokens } = await connected(profile);
  const refused = await replayed.call(tokens.access_token, 'my_orders');
  expect(refused.status).toBe(403);
  expect(replayed.scopesOf(refused)?.split(' ')).toContain('orders:read');
});

test.each(ASKS_FOR_SOME.filter(({ stepsUp }) => stepsUp))(
  '$name asks again with that scope, and keeps what it had',
  async (profile) => {
    const { replayed, tokens } = await connected(profile);
    const named = replayed.scopesOf(await replayed.call(tokens.access_token, 'my_orders'));
    const { access_token: wider } = await replayed.authorize(named ?? '');
    expect(await (await replayed.call(wider, 'my_orders')).text()).toContain('soup');
    expect(await (await replayed.call(wider, 'my_account')).text()).toContain('Ada Lovelace');
  },
);
