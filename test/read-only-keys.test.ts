// @engines sqlite, needs root unshare: keys are files
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { portico, ROOT, start } from './support/console.ts';
import {
  ADA,
  exchangeCode,
  obtainCode,
  registerClient,
  startPortal,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';

/**
 * A key directory that no user can write, not even root. It is mounted read-only in the mount
 * namespace of the program.
 */

const PORTAL = path.join(ROOT, 'examples', 'portal');
let portal: RunningPortal;
let directory: string;

beforeAll(async () => {
  portal = await startPortal();
  directory = portal.server.config.key_path;
  // A key that is no longer needed, and its successor.
  const old = await portal.server.keys.all();
  const next = await portal.server.keys.generate();
  for (const [number, key] of [...old, next].entries())
    await rename(
      path.join(directory, key.file ?? ''),
      path.join(directory, `${number + 1}-${key.kid}.json`),
    );
});
afterAll(() => portal.close());

const MOUNT = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
/** The words before a program for which this folder is read-only. */
const readOnly = (folder: string): readonly string[] => [
  'unshare',
  ...(process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user']),
  'sh',
  '-c',
  MOUNT,
  folder,
];
const run = (...args: readonly string[]) =>
  portico(args, { cwd: PORTAL, env: portal.env, through: readOnly(directory) });

describe('with a read-only key directory', () => {
  // @shows AS-11.12
  test.each([
    ['oauth:keys:rotate', 'no key was replaced'],
    ['oauth:keys:generate', 'no key was created'],
    ['oauth:keys:prune', 'old keys were not removed'],
  ])('%s prints one line about it, and changes nothing', async (command, effect) => {
    const before = await readdir(directory);
    const { code, stdout, stderr } = await run(command, '--json');
    const reason = `The key directory ${directory} cannot be written (EROFS: it is mounted read-only): ${effect}\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: reason });
    expect(await readdir(directory)).toEqual(before);
  });

  // @shows AS-11.12
  test('setup finds the existing key, and explains why it cannot create one', async () => {
    expect((await run('oauth:server:setup')).stdout).toMatch(
      /^The signing key \S+ already exists\.$/m,
    );
    const storage = await mkdtemp(path.join(tmpdir(), 'portico-read-only-'));
    try {
      const empty = path.join(storage, 'oauth', 'keys');
      await mkdir(empty, { recursive: true, mode: 0o700 });
      const env = { APP_ENV: 'dev', STORAGE_DIR: storage };
      const setup = await portico(['oauth:server:setup'], {
        cwd: PORTAL,
        env,
        through: readOnly(empty),
      });
      expect(setup).toMatchObject({ code: 1, stdout: '' });
      expect(setup.stderr).toContain('(EROFS: it is mounted read-only): no key was created');
      expect(await readdir(empty)).toEqual([]);
    } finally {
      await rm(storage, { recursive: true });
    }
  });

  test('the doctor command reports no fault, and lists old keys', async () => {
    const { code, stdout } = await run('oauth:server:doctor', '--json');
    expect(code).toBe(0);
    const { checks } = JSON.parse(stdout) as { checks: { part: string; outcome: string }[] };
    expect(checks.find(({ part }) => part === 'signing key')?.outcome).toBe('ok');
    expect(checks.filter(({ outcome }) => outcome === 'failing')).toEqual([]);
  });

  test('a process starts, becomes ready, publishes the keys and signs', async () => {
    const PORT = String(await freePort());
    const serving = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
      cwd: PORTAL,
      env: { ...portal.env, PORT },
      through: readOnly(directory),
    });
    try {
      await serving.says('Listening on');
      const other = { ...portal, url: `http://localhost:${PORT}` };
      expect((await fetch(`${other.url}/health/ready`)).status).toBe(200);
      const set = (await (await fetch(`${other.url}/.well-known/jwks.json`)).json()) as {
        keys: unknown[];
      };
      expect(set.keys).toHaveLength(2);
      const client = await registerClient(portal);
      const code = await obtainCode(portal, client, await portal.signedIn(ADA));
      const exchanged = await exchangeCode(other, client, code);
      expect(((await exchanged.json()) as Tokens).id_token).toMatch(/^ey/);
    } finally {
      await serving.stop();
    }
  });
});
