// @engines all: the console reads the store
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';

/** First-party clients in the console (`oauth_server:remember_consent`). */

const CONFIG = { oauth_server: { remember_consent: true } };

let portal: RunningPortal;
beforeAll(async () => {
  portal = await startPortal({ config: CONFIG });
});
afterAll(() => portal.close());

describe('the console', () => {
  const console = (args: readonly string[], config: object = CONFIG) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { ...portal.env, PUBLIC_URL: portal.url, PORTAL_CONFIG: JSON.stringify(config) },
    });
  const CREATE = [
    'oauth:client:create',
    'Calendar',
    '--redirect=https://calendar.example/callback',
    '--scope=openid',
    '--first-party',
  ];

  // @shows AS-52.2
  test('marks a client, shows the mark, and removes it', async () => {
    const created = await console([...CREATE, '--json']);
    const { client_id: id, ...more } = JSON.parse(created.stdout) as { readonly client_id: string };
    expect(more).toMatchObject({ first_party: true });
    expect((await console(['oauth:client:show', id])).stdout).toContain(
      '(confidential, first-party)',
    );
    expect(JSON.parse((await console(['oauth:client:show', id, '--json'])).stdout)).toMatchObject({
      first_party: true,
    });
    expect((await console(['oauth:client:list'])).stdout).toContain(
      `${id}  Calendar  (confidential, first-party)`,
    );
    const listed = JSON.parse((await console(['oauth:client:list', '--json'])).stdout) as Record<
      string,
      unknown
    >[];
    expect(listed.find((each) => each['client_id'] === id)).toMatchObject({ first_party: true });
    const page = JSON.parse(
      (await console(['oauth:client:list', '--limit=1000', '--json'])).stdout,
    ) as { readonly items: readonly Record<string, unknown>[] };
    expect(page.items.find((each) => each['client_id'] === id)).toMatchObject({
      first_party: true,
    });
    const updated = await console(['oauth:client:update', id, '--no-first-party']);
    expect(updated.stdout).toContain('first_party: "true" → none');
    expect((await console(['oauth:client:show', id])).stdout).toContain('(confidential)');
    const again = await console(['oauth:client:update', id, '--first-party', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ first_party: true });
  });

  // @shows AS-52.2
  test('refuses the mark for a native application, and if the setting is off', async () => {
    const native = await console([...CREATE, '--native']);
    expect([native.code, native.stderr]).toEqual([
      1,
      expect.stringContaining('is only for web applications') as string,
    ]);
    const off = await console(CREATE, {
      oauth_server: { ...CONFIG.oauth_server, remember_consent: false },
    });
    expect([off.code, off.stderr]).toEqual([
      1,
      expect.stringContaining('This server does not support the field first_party') as string,
    ]);
  });
});

// @shows AS-52.8
test('without oauth_server:remember_consent, the list of clients has no additional fields', async () => {
  const logout = (args: readonly string[], isOn: boolean) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: {
        ...portal.env,
        PUBLIC_URL: portal.url,
        PORTAL_CONFIG: JSON.stringify({ oauth_server: { logout: isOn } }),
      },
    });
  const create = ['oauth:client:create', 'Out', '--redirect=https://out.example/callback'];
  const more = ['--scope=openid', '--post-logout-redirect=https://out.example/', '--json'];
  const created = await logout([...create, ...more], true);
  const { client_id: id } = JSON.parse(created.stdout) as { readonly client_id: string };
  const listed = async (isOn: boolean) => {
    const { stdout } = await logout(['oauth:client:list', '--json'], isOn);
    const all = JSON.parse(stdout) as readonly Readonly<Record<string, unknown>>[];
    return all.find((each) => each['client_id'] === id);
  };
  expect(await listed(true)).toEqual(await listed(false));
});
