// @engines sqlite, long: keys are files
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { porticoHere, ROOT, start, type RunningProcess } from './support/console.ts';
import {
  ADA,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';

/**
 * Two processes on one database. Each has a separate key directory, as when an operator copies keys
 * to every machine.
 */
let one: RunningPortal;
let other: RunningPortal;
let storage: string;
let process: RunningProcess;
let client: TestClient;

const PORTAL = path.join(ROOT, 'examples', 'portal');
const keysIn = (folder: string) => path.join(folder, 'oauth', 'keys');
const directories = () => [one.server.config.key_path, keysIn(storage)];

beforeAll(async () => {
  one = await startPortal();
  storage = await mkdtemp(path.join(tmpdir(), 'portico-other-'));
  await cp(one.server.config.key_path, keysIn(storage), { recursive: true });
  const port = String(await freePort());
  process = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
    cwd: PORTAL,
    env: { ...one.env, STORAGE_DIR: storage, PORT: port, PUBLIC_URL: one.url },
  });
  await process.says('Listening on');
  other = { ...one, url: `http://localhost:${port}` };
  client = await registerClient(one);
});
afterAll(async () => {
  await process.stop('SIGKILL');
  await one.close();
  await rm(storage, { recursive: true });
});

let fresh: string;
beforeEach(async () => {
  fresh = await mkdtemp(path.join(tmpdir(), 'portico-fresh-'));
});
afterEach(() => rm(fresh, { recursive: true }));

/** The keys that a process publishes. */
async function published({ url }: RunningPortal): Promise<readonly unknown[]> {
  const response = await fetch(`${url}/.well-known/jwks.json`);
  return ((await response.json()) as { keys: { kid: unknown }[] }).keys.map(({ kid }) => kid);
}

/**
 * Returns the key that a process signs with. It gets an ID token with a new refresh token each
 * time.
 */
async function signing(portal: RunningPortal): Promise<unknown> {
  const { refresh_token: token } = await obtainTokens(one, client, ADA);
  const { id_token: signed } = (await (await refresh(portal, client, token)).json()) as Tokens;
  const header = Buffer.from(signed.split('.')[0] ?? '', 'base64url').toString();
  return (JSON.parse(header) as { kid: unknown }).kid;
}

/** Both read their directory at least once a second. */
const seen = { timeout: 20_000, interval: 100 };

// The commands of docs/keys-on-several-machines.md.
const PUBLISH = String.raw`
install -m 600 "$fresh"/*.json "$keys/0-$kid.json"
`;
const SIGN = String.raw`
mv "$keys/0-$kid.json" "$keys/$(date +%s)999-$kid.json"
`;

async function run(commands: string, keys: string, kid: string): Promise<void> {
  await promisify(execFile)('sh', ['-ec', commands], {
    env: { PATH: globalThis.process.env['PATH'], fresh: keysIn(fresh), keys, kid },
  });
}

async function makeKey(): Promise<string> {
  const env = { ...one.env, STORAGE_DIR: fresh };
  const { stdout } = await porticoHere(['oauth:keys:generate', '--json'], { cwd: PORTAL, env });
  return (JSON.parse(stdout) as { kid: string }).kid;
}

describe('a new key delivered to one machine after another', () => {
  // @shows AS-11.2
  test('does not sign while its file name sorts first, and is published wherever it exists', async () => {
    const before = await signing(one);
    const kid = await makeKey();
    for (const [index, keys] of directories().entries()) {
      await run(PUBLISH, keys, kid);
      await expect
        .poll(async () => (await published([one, other][index] ?? one)).includes(kid), seen)
        .toBe(true);
    }
    expect([await signing(one), await signing(other)]).toEqual([before, before]);

    // One process sees the renamed file earlier than the other. Both know both keys.
    const [first = '', second = ''] = directories();
    await run(SIGN, first, kid);
    await expect.poll(() => signing(one), seen).toBe(kid);
    expect(await signing(other)).toBe(before);
    expect(await published(other)).toEqual(expect.arrayContaining([kid, before]));
    await run(SIGN, second, kid);
    await expect.poll(() => signing(other), seen).toBe(kid);
    expect(await published(one)).toEqual(expect.arrayContaining([kid, before]));
  });

  // @shows AS-11.2
  test('signs immediately under its final name where it exists, and is unknown elsewhere', async () => {
    const before = await signing(other);
    const kid = await makeKey();
    const [name = ''] = await readdir(keysIn(fresh));
    await rename(path.join(keysIn(fresh), name), path.join(directories()[0] ?? '', name));
    await expect.poll(() => signing(one), seen).toBe(kid);
    expect(await signing(other)).toBe(before);
    expect(await published(other)).not.toContain(kid);
  });
});
