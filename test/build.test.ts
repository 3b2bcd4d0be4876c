// @engines sqlite, long: it builds a dozen times, and uses no database
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkDependencies, PACKAGES } from '../tools/scripts/packages.ts';
import { portico, ROOT, start } from './support/console.ts';
import { freePort } from './support/free-port.ts';

const run = promisify(execFile);

const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

/** A copy of the repository, so that the tests do not rebuild the `dist` of the original. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-build-'));
  for (const name of ['examples', 'packages', 'tools/scripts', ...FILES])
    await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true, filter: isOurs });
  linkDependencies(folder);
  if ((await build()) !== 0) throw new Error('The copy cannot be built');
}, 240_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Storage and logs of the examples are not copied. */
function isOurs(file: string): boolean {
  return !['storage', 'logs', 'dist', 'node_modules'].includes(path.basename(file));
}

async function build(): Promise<number | null> {
  const child = spawn(process.execPath, ['tools/scripts/build.ts'], {
    cwd: folder,
    stdio: 'ignore',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

/** Every built file, from `packages`, with its modification time, inode and size. */
async function built(): Promise<Readonly<Record<string, string>>> {
  const found = PACKAGES.map(async ({ folder: name }) => {
    const dist = path.join(name, 'dist');
    const files = await readdir(path.join(folder, 'packages', dist), { recursive: true });
    return files.map((file) => path.join(dist, file));
  });
  const names = (await Promise.all(found)).flat().toSorted();
  const states = names.map(async (name) => {
    const { mtimeMs, ino, size } = await stat(path.join(folder, 'packages', name));
    return [name, `${mtimeMs} ${ino} ${size}`] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}

/** Changes a source until the work is done. */
async function withSource(
  file: string,
  change: (text: string) => string,
  work: () => Promise<void>,
): Promise<void> {
  const source = path.join(folder, 'packages', file);
  const text = await readFile(source, 'utf8');
  await writeFile(source, change(text));
  try {
    await work();
  } finally {
    await writeFile(source, text);
  }
}

const SHARED = path.join('portico', 'src', 'grants', 'pkce.ts');
const addOne = (text: string) =>
  text.replace(/^export function /m, 'console.debug("changed");\n$&');

// Each build takes some seconds, and many on a busy machine.
describe('a build', { timeout: 240_000 }, () => {
  // @shows HOST-5.2
  test('does not disturb a server that runs on the previous build', async () => {
    const storage = await mkdtemp(path.join(tmpdir(), 'portico-build-'));
    const env = {
      STORAGE_DIR: storage,
      PORT: String(await freePort()),
      RP_PORT: String(await freePort()),
    };
    const portal = `http://localhost:${env.PORT}`;
    const started = start([path.join(folder, 'examples', 'start.ts')], { cwd: folder, env });
    await started.says('Ctrl+C');
    const answers: string[] = [];
    const ask = async (target: string) => {
      const { status } = await fetch(`${portal}${target}`);
      answers.push(`${status} ${target}`);
    };
    const whileAsked = async (work: Promise<unknown>) => {
      const ended = new AbortController();
      work.finally(() => ended.abort()).catch(() => {});
      while (!ended.signal.aborted) {
        await ask('/');
        await ask('/.well-known/openid-configuration');
        await ask('/.well-known/jwks.json');
        // The builds compete for the processor.
        await setTimeout(20);
      }
      await work;
    };
    // Files that the server has not read yet change in a way that it could not handle.
    const later = () => '<%= it.not.known.yet %>';
    await withSource(path.join('kit', 'src', 'views', 'login.eta'), later, async () => {
      await withSource(SHARED, addOne, async () => {
        const first = build();
        await whileAsked(first);
        expect(await first).toBe(0);
        await ask('/login');
      });
    });
    const second = build();
    await whileAsked(second);
    expect(await second).toBe(0);
    await ask('/login');
    await ask('/oauth/authorize?client_id=unknown');
    expect(answers.pop()).toMatch(/^400 /);
    expect(answers.length).toBeGreaterThan(10);
    expect(answers.filter((answer) => !answer.startsWith('200 '))).toEqual([]);
    // A process that starts now runs the new build.
    const listed = await portico(['oauth:client:list'], {
      installed: { node: process.execPath, folder },
      cwd: path.join(folder, 'examples', 'portal'),
      env,
    });
    expect(listed.code, listed.stderr).toBe(0);
    await started.stop();
    await rm(storage, { recursive: true, force: true });
  });

  // @shows HOST-5.2
  test('is skipped if nothing has changed', async () => {
    expect(await build()).toBe(0);
    const before = await built();
    await withSource(
      SHARED,
      (text) => text,
      async () => expect(await build()).toBe(0),
    );
    expect(await built()).toEqual(before);
  });

  test('runs again if its output is missing', async () => {
    const view = path.join(folder, 'packages', 'kit', 'dist', 'views', 'login.eta');
    const before = Object.keys(await built());
    await rm(view);
    await writeFile(path.join(folder, 'packages', 'sql', 'dist', 'left-over.js'), '');
    expect(await build()).toBe(0);
    expect(Object.keys(await built())).toEqual(before);
  });

  test('waits for a simultaneous build, and is then skipped', async () => {
    await withSource(SHARED, addOne, async () => {
      expect(await Promise.all([build(), build(), build()])).toEqual([0, 0, 0]);
      const after = await built();
      expect(await build()).toBe(0);
      expect(await built()).toEqual(after);
      const listed = await portico(['--help'], {
        installed: { node: process.execPath, folder },
        cwd: path.join(folder, 'examples', 'portal'),
      });
      expect(listed.stderr + listed.stdout).toContain('changed');
    });
  });

  test('runs before a new clone is packed, so that the package is complete', async () => {
    expect(await build()).toBe(0);
    // Folders have no ending, and neither has a licence; source maps are not for applications.
    const isPacked = (name: string) =>
      name.startsWith('portico/') && /(?:\.\w+|LICENSE)$/.test(name) && !name.endsWith('.map');
    const before = Object.keys(await built()).filter(isPacked);
    await rm(path.join(folder, '.build'), { recursive: true });
    for (const each of PACKAGES)
      await rm(path.join(folder, 'packages', each.folder, 'dist'), { recursive: true });
    expect(await build()).toBe(0);
    const args = ['pack', '--dry-run', '--json', '--workspace', 'packages/portico'];
    const { stdout } = await run('npm', args, { cwd: folder });
    const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }];
    const packed = files
      .map((file) => `portico/${file.path}`)
      .filter((name) => name.startsWith('portico/dist/'));
    expect(packed.toSorted()).toEqual(before.toSorted());
  });

  // @shows HOST-5.2
  test('that fails keeps the previous build', async () => {
    expect(await build()).toBe(0);
    const before = await built();
    await withSource(
      SHARED,
      (text) => `${text}\nconst wrong: string = 1;\n`,
      async () => {
        expect(await build()).not.toBe(0);
      },
    );
    expect(await built()).toEqual(before);
    expect(await build()).toBe(0);
    expect(await built()).toEqual(before);
  });
});
