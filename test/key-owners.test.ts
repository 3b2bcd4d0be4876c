// @engines sqlite, needs root: keys are files
import { execFile, spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { PACKAGES, type Package } from '../tools/scripts/packages.ts';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  consoleOf,
  HERE,
  installPortico,
  portico,
  ROOT,
  start,
  type ConsoleResult,
  type Installed,
} from './support/console.ts';
import { freePort } from './support/free-port.ts';

/**
 * Commands that root runs, for example from its crontab, for a server that runs as another user.
 * The tests need root, because only root can create a file for another user.
 */

const SERVING = 65_534;
const AS_SERVING = [
  'setpriv',
  `--reuid=${SERVING}`,
  `--regid=${SERVING}`,
  '--clear-groups',
] as const;
/** A root that may not give files away. */
const BOUND = ['setpriv', '--inh-caps=-chown', '--bounding-set=-chown'];

const run = promisify(execFile);

/** The published files of a package, from the root of the workspace. */
function partsOf({ folder }: Package): readonly string[] {
  const parts = ['dist', 'package.json', ...(folder === 'portico' ? ['bin'] : [])];
  return parts.map((part) => path.join('packages', folder, part));
}

/**
 * The dependencies of the packages, from the root of the workspace; including the links to the
 * packages.
 */
async function dependencies(): Promise<readonly string[]> {
  const workspaces = PACKAGES.flatMap(({ folder }) => ['--workspace', `packages/${folder}`]);
  const args = ['ls', '--omit=dev', '--all', '--parseable', ...workspaces];
  const { stdout } = await run('npm', args, { cwd: ROOT }).catch(
    // It also ends with 1 for optional packages that are missing.
    (error: { readonly stdout: string }) => error,
  );
  const found = stdout.split('\n').map((each) => path.relative(ROOT, each.trim()));
  return [...found.filter((each) => each.startsWith('node_modules')), 'node_modules/@portico'];
}

/**
 * Returns Node and the package in a place that another user can read. If the clone is in a private
 * folder, these are copies. `through` runs a command as that user.
 */
async function installedFor(
  through: readonly [string, ...string[]],
): Promise<Installed & { readonly remove: () => Promise<void> }> {
  const [command, ...args] = through;
  const isReadable =
    spawnSync(command, [...args, 'head', '-c', '1', path.join(ROOT, 'package.json')]).status === 0;
  if (isReadable) return { ...HERE, remove: async () => {} };

  const copy = await mkdtemp(path.join(tmpdir(), 'portico-installed-'));
  const parts = [...PACKAGES.flatMap(partsOf), ...(await dependencies())];
  for (const part of parts)
    await cp(path.join(ROOT, part), path.join(copy, part), {
      recursive: true,
      verbatimSymlinks: true,
    });
  const node = path.join(copy, 'node');
  await cp(process.execPath, node);
  await run('chmod', ['-R', 'a+rX', copy]);
  await chmod(node, 0o755);
  return { node, folder: copy, remove: () => rm(copy, { recursive: true }) };
}

let folder: string;
let env: Readonly<Record<string, string>>;
const storage = () => path.join(folder, 'storage');
const keyPath = () => path.join(storage(), 'oauth', 'keys');
const keyFiles = async () => (await readdir(keyPath())).toSorted();
let installed: Installed;
const root = (...args: readonly string[]) => portico(args, { cwd: folder, env, installed });
const serving = (...args: readonly string[]) =>
  portico(args, { cwd: folder, env, installed, through: AS_SERVING });

beforeAll(async () => {
  if (process.getuid?.() !== 0)
    throw new Error('Run these tests as root, for instance in a container');
  const { remove, ...found } = await installedFor(AS_SERVING);
  installed = found;
  return remove;
});
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-owners-'));
  await mkdir(path.join(folder, 'node_modules'));
  await installPortico(folder, installed.folder);
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    path.join(folder, 'app.ts'),
    `import { defineApplication } from '@portico/kit';
    import { oauthServer } from 'portico';
    export default defineApplication({
      config: (env) => ({
        public_url: 'http://localhost:' + env.PORT,
        log: { path: env.STORAGE_DIR + '/log/app.log' },
        oauth_server: { name: 'Owners', scopes: {}, registration: 'open', audit: { stream: env.STORAGE_DIR + '/audit.jsonl' } },
      }),
      plugins: [oauthServer()],
    });`,
  );
  // The code belongs to root and is readable, with any umask.
  for (const name of ['.', 'node_modules']) await chmod(path.join(folder, name), 0o755);
  for (const name of ['package.json', 'app.ts']) await chmod(path.join(folder, name), 0o644);
  await mkdir(storage(), { mode: 0o700 });
  await chown(storage(), SERVING, SERVING);
  env = { APP_ENV: 'dev', PORT: String(await freePort()), STORAGE_DIR: storage() };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The files of the storage directory, with their owner and mode. */
async function made(): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(storage(), { recursive: true })).toSorted();
  const entries = names.map(async (name) => {
    const { uid, gid, mode } = await lstat(path.join(storage(), name));
    return [name, `${uid}:${gid} ${(mode & 0o777).toString(8)}`] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function whileServing(use: (url: string) => Promise<void>): Promise<void> {
  const server = start([consoleOf(installed), 'serve'], {
    cwd: folder,
    env,
    installed,
    through: AS_SERVING,
  });
  try {
    await server.says('Listening on');
    await use(`http://localhost:${env['PORT']}`);
  } finally {
    await server.stop();
  }
}

const expectDone = (...results: readonly ConsoleResult[]) => {
  for (const { code, stderr } of results) expect(code, stderr).toBe(0);
};

const status = async (url: string) => (await fetch(url, { redirect: 'manual' })).status;

interface Finding {
  readonly part: string;
  readonly outcome: string;
  readonly detail: string;
  readonly remedy: string | null;
}

const findings = async (result: ConsoleResult, part: string) =>
  (JSON.parse(result.stdout) as { checks: readonly Finding[] }).checks.filter(
    (each) => each.part === part,
  );

/** Earlier releases left the files of root's commands to root. */
const giveToRoot = (name: string) => chown(path.join(keyPath(), name), 0, 0);

describe('files created by root commands in a storage directory of the serving account', () => {
  // @shows AS-11.22
  test('belong to that account, are readable only by it, and usable by the server', async () => {
    expectDone(
      await root('db:migrate', 'up'),
      await root('oauth:server:setup'),
      await root('oauth:keys:generate', '--alg=ES256'),
      await root('oauth:keys:rotate'),
    );
    const all = await made();
    expect(Object.keys(all)).toContain('oauth/keys');
    for (const [name, whose] of Object.entries(all))
      expect(`${name} ${whose}`).toMatch(/ 65534:65534 (?:600|700)$/);
    expect(await keyFiles()).toHaveLength(4);
    await whileServing(async (url) => {
      expect(await status(`${url}/health/ready`)).toBe(200);
      const set = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as {
        keys: unknown[];
      };
      expect(set.keys).toHaveLength(4);
      expectDone(await root('oauth:keys:rotate', '--now'));
      await expect.poll(() => status(`${url}/health/ready`)).toBe(200);
      expect(await status(`${url}/.well-known/jwks.json`)).toBe(200);
    });
    const log = await readFile(path.join(storage(), 'log', 'app.log'), 'utf8');
    expect(log).not.toContain('left out');
  });

  // @shows AS-11.22
  test('are not created if their ownership cannot be changed, and one line explains why', async () => {
    expectDone(await serving('oauth:server:setup'));
    const before = await made();
    for (const command of ['oauth:keys:rotate', 'oauth:keys:generate']) {
      const refused = await portico([command], { cwd: folder, env, installed, through: BOUND });
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(
        /^The key directory \S+ belongs to uid 65534, but the new key cannot be given to that user \(EPERM\): no key was \w+\. Run the command as that user\n$/,
      );
    }
    expect(await made()).toEqual(before);
  });

  test('belong to the owner of the folder behind a link, and no existing file changes its owner', async () => {
    const elsewhere = path.join(folder, 'of-root');
    await mkdir(elsewhere, { mode: 0o700 });
    await mkdir(path.join(storage(), 'oauth'), { mode: 0o700 });
    await chown(path.join(storage(), 'oauth'), SERVING, SERVING);
    await symlink(elsewhere, keyPath());
    expectDone(await root('oauth:keys:generate'));
    const [name = ''] = await keyFiles();
    expect((await lstat(path.join(elsewhere, name))).uid).toBe(0);
    expect((await lstat(elsewhere)).uid).toBe(0);
  });
});

describe('a key file that the serving account cannot read', () => {
  beforeEach(async () => {
    expectDone(await root('db:migrate', 'up'), await root('oauth:server:setup'));
  });

  // @shows AS-11.4, AS-11.22
  test('makes endpoints that need the active key return 503 until it is readable, without a restart', async () => {
    const [name = ''] = await keyFiles();
    await whileServing(async (url) => {
      const registered = await fetch(`${url}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          redirect_uris: ['https://client.example/callback'],
          client_name: 'Test',
        }),
      });
      const { client_id } = (await registered.json()) as { client_id: string };
      const query = new URLSearchParams({
        client_id,
        response_type: 'code',
        redirect_uri: 'https://client.example/callback',
        scope: 'openid',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      });
      await giveToRoot(name);
      // A process that has already read a key continues with it. So the test uses a new key, as
      // after a restart.
      const newest = '9000000000000-newest.json';
      await writeFile(path.join(keyPath(), newest), await readFile(path.join(keyPath(), name)), {
        mode: 0o600,
      });
      await expect.poll(() => status(`${url}/.well-known/jwks.json`)).toBe(503);
      const response = await fetch(`${url}/.well-known/jwks.json`);
      expect(response.headers.get('retry-after')).toBe('2');
      expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
      await expect.poll(() => status(`${url}/oauth/authorize?${query.toString()}`)).toBe(503);
      await expect.poll(() => status(`${url}/health/ready`)).toBe(503);
      for (const run of [root, serving]) {
        const doctor = await run('oauth:server:doctor', '--json');
        expect(doctor.code).toBe(1);
        expect(await findings(doctor, 'signing key')).toMatchObject([
          {
            outcome: 'failing',
            detail: expect.stringMatching(
              /do not belong to the directory's owner \(uid 65534\): \S+ \(uid 0\), 9000000000000-newest\.json \(uid 0\)$/,
            ) as string,
            remedy: expect.stringMatching(/run chown -R 65534:65534 '\S+keys'/) as string,
          },
        ]);
      }
      for (const each of await keyFiles())
        await chown(path.join(keyPath(), each), SERVING, SERVING);
      await expect.poll(() => status(`${url}/.well-known/jwks.json`)).toBe(200);
      await expect.poll(() => status(`${url}/health/ready`)).toBe(200);
    });
  });

  // @shows AS-11.16, AS-11.22
  test('fails the doctor if the key is staged, and the next rotation by root does not move it', async () => {
    expectDone(await root('oauth:keys:rotate'));
    const name = (await keyFiles()).find((each) => each.startsWith('0-next-')) ?? '';
    await giveToRoot(name);
    const before = await made();
    const doctor = await root('oauth:server:doctor', '--json');
    expect(await findings(doctor, 'signing key')).toMatchObject([
      { outcome: 'failing', detail: expect.stringContaining(`${name} (uid 0)`) as string },
    ]);
    const refused = await root('oauth:keys:rotate', '--if-older-than=1s');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^The staged key \S+ belongs to uid 0, but its directory belongs to uid 65534, and that user cannot read the key: no key was replaced\. Remove this key\. Then run the command as the account that runs the server\n$/,
    );
    expect(await made()).toEqual(before);
    await chown(path.join(keyPath(), name), SERVING, SERVING);
    expectDone(await root('oauth:keys:rotate', '--if-older-than=1s'));
    expect(
      await findings(await root('oauth:server:doctor', '--json'), 'signing key'),
    ).toMatchObject([{ outcome: 'ok' }]);
  });

  // @shows AS-11.22
  test('is a warning of the doctor if the directory belongs to root', async () => {
    for (const each of [keyPath(), ...(await keyFiles()).map((name) => path.join(keyPath(), name))])
      await chown(each, 0, 0);
    expect(
      await findings(await root('oauth:server:doctor', '--json'), 'signing key'),
    ).toMatchObject([
      { outcome: 'ok' },
      {
        outcome: 'warning',
        detail: expect.stringMatching(
          /keys belongs to root, but the folder \S+oauth belongs to uid 65534/,
        ) as string,
        remedy: expect.stringContaining("chown -R 65534:65534 '") as string,
      },
    ]);
  });
});
