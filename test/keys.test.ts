// @engines sqlite: keys are files
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

let portal: RunningPortal;
let client: TestClient;
/** How far the server's clock is off, in milliseconds. */
let offset = 0;

beforeEach(async () => {
  offset = 0;
  portal = await startPortal({ clock: () => Date.now() + offset });
  client = await registerClient(portal);
});
afterEach(() => portal.close());

const directory = () => portal.server.config.key_path;
const keySet = () => fetch(`${portal.url}/.well-known/jwks.json`);

function kidOf(idToken: string): unknown {
  const header = Buffer.from(idToken.split('.')[0] ?? '', 'base64url').toString();
  return (JSON.parse(header) as { kid: unknown }).kid;
}

describe('a clock that is set back', () => {
  // @shows AS-11.3
  test('does not make a process sign with a key that was replaced and removed elsewhere', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    offset = -3_600_000;
    // Another process generates a key. Then the previous key is removed, as by a process whose
    // clock is ahead.
    const [old = ''] = await readdir(directory());
    const elsewhere = await startPortal({
      config: { oauth_server: { key_path: directory() } },
      signingKey: false,
    });
    const { kid } = await elsewhere.server.keys.generate();
    await elsewhere.close();
    await rm(path.join(directory(), old));
    let refreshToken = tokens.refresh_token;
    await expect
      .poll(
        async () => {
          const next = (await (await refresh(portal, client, refreshToken)).json()) as Tokens;
          refreshToken = next.refresh_token;
          return kidOf(next.id_token);
        },
        { timeout: 20_000, interval: 50 },
      )
      .toBe(kid);
  });
});

describe('a key directory that is lost while serving', () => {
  const away = () => `${directory()}-away`;
  const LOSSES: readonly (readonly [string, () => Promise<void>, () => Promise<void>])[] = [
    ['gone', () => rename(directory(), away()), () => rename(away(), directory())],
    [
      'empty, like a mount point without its file system',
      async () => {
        await rename(directory(), away());
        await mkdir(directory());
      },
      async () => {
        await rm(directory(), { recursive: true });
        await rename(away(), directory());
      },
    ],
    [
      'replaced by a file',
      async () => {
        await rename(directory(), away());
        await writeFile(directory(), '');
      },
      async () => {
        await rm(directory());
        await rename(away(), directory());
      },
    ],
    [
      'present, but the newest key cannot be read',
      () => mkdir(path.join(directory(), '9000000000000-newest.json')),
      () => rm(path.join(directory(), '9000000000000-newest.json'), { recursive: true }),
    ],
  ];

  // @shows AS-11.4
  test.each(LOSSES)(
    '%s: the key set is 503 until the directory is back',
    async (_, lose, restore) => {
      const before: unknown = await (await keySet()).json();
      await lose();
      await expect.poll(async () => (await keySet()).status).toBe(503);
      const response = await keySet();
      expect(response.headers.get('retry-after')).toBe('2');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
      const log = await readFile(path.join(portal.application.storageDirectory, 'app.log'), 'utf8');
      expect(log).toContain('oauth_server_jwks failed: KeysLostError: The signing key');
      expect(log).not.toContain('caused by null');
      await restore();
      await expect.poll(async () => (await keySet()).status).toBe(200);
      expect(await (await keySet()).json()).toEqual(before);
    },
  );

  // @shows AS-11.4
  test.each(LOSSES)(
    '%s: requests that need an ID token get 503, and the code or token stays valid',
    async (_, lose, restore) => {
      const visitor = await portal.signedIn(ADA);
      const code = await obtainCode(portal, client, visitor);
      const tokens = await obtainTokens(portal, client, ADA);
      await lose();
      await expect.poll(async () => (await keySet()).status).toBe(503);
      expect((await visitor.get(authorizationUrl(portal, client))).status).toBe(503);
      expect((await exchangeCode(portal, client, code)).status).toBe(503);
      expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(503);
      await restore();
      expect((await exchangeCode(portal, client, code)).status).toBe(200);
      expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
      expect((await visitor.get(authorizationUrl(portal, client))).status).toBe(200);
    },
  );

  // @shows AS-11.4
  test('at the start: endpoints that need a key return 503 until the directory can be read', async () => {
    const unread = path.join(portal.application.storageDirectory, 'unread');
    await writeFile(unread, '');
    const started = await startPortal({
      config: { oauth_server: { key_path: unread } },
      signingKey: false,
    });
    try {
      const response = await fetch(`${started.url}/.well-known/jwks.json`);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
      await rm(unread);
      const after = await fetch(`${started.url}/.well-known/jwks.json`);
      expect([after.status, await after.json()]).toEqual([200, { keys: [] }]);
    } finally {
      await started.close();
    }
  });

  // @shows AS-11.4
  test('does not affect requests that need no key, and the metadata is unchanged', async () => {
    const metadata = async () =>
      (await fetch(`${portal.url}/.well-known/openid-configuration`)).text();
    const before = await metadata();
    const [, lose] = LOSSES[0] ?? ['', async () => {}];
    await lose();
    await expect.poll(async () => (await keySet()).status).toBe(503);
    expect(await metadata()).toBe(before);
    const code = await obtainCode(portal, client, await portal.signedIn(ADA), {
      scope: 'notes:read',
    });
    expect((await exchangeCode(portal, client, code)).status).toBe(200);
  });
});

// @shows AS-11.4
test('a server without any key has an empty key set', async () => {
  const without = await startPortal({ signingKey: false });
  try {
    const response = await fetch(`${without.url}/.well-known/jwks.json`);
    expect([response.status, await response.json()]).toEqual([200, { keys: [] }]);
  } finally {
    await without.close();
  }
});
