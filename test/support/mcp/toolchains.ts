import { spawn } from 'node:child_process';
import { once as event } from 'node:events';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../console.ts';

/**
 * Builds the clients in other languages from their lockfiles. Builds each once, and again after a
 * change.
 */
const SOURCES = path.join(ROOT, 'test', 'clients');
const BUILT = path.join(ROOT, 'node_modules', '.cache', 'mcp-clients');

/** Builds a client for the first caller. Later callers in the same run get the same build. */
export function once(build: () => Promise<readonly string[]>): () => Promise<readonly string[]> {
  let built: Promise<readonly string[]> | undefined;
  return () => (built ??= build());
}

async function run(folder: string, file: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(file, args, {
    cwd: path.join(SOURCES, folder),
    // Debug information and incremental builds are not needed.
    env: { ...process.env, CGO_ENABLED: '0', CARGO_PROFILE_DEV_DEBUG: '0', CARGO_INCREMENTAL: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const [code] = (await event(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}:\n${said}`);
}

export async function goClient(): Promise<readonly string[]> {
  const file = path.join(BUILT, 'go', 'client');
  await run('go', 'go', 'build', '-o', file, '.');
  return [file];
}

/** Builds the program that docs/connecting/oauth2-proxy.md describes. */
export async function oauth2Proxy(): Promise<readonly string[]> {
  const file = path.join(BUILT, 'oauth2-proxy');
  await run('oauth2-proxy', 'go', 'build', '-o', file, 'github.com/oauth2-proxy/oauth2-proxy/v7');
  return [file];
}

export async function rustClient(): Promise<readonly string[]> {
  const target = path.join(BUILT, 'rust');
  await run('rust', 'cargo', 'build', '--locked', '--quiet', '--target-dir', target);
  return [path.join(target, 'debug', 'mcp-client')];
}

/**
 * Installs the packages of this lockfile in a separate environment. Resolves to the path of the
 * interpreter.
 */
async function pythonOf(name: string): Promise<string> {
  const folder = path.join(BUILT, name);
  const python = path.join(folder, 'bin', 'python');
  const lock = path.join(SOURCES, name, 'requirements.txt');
  const done = path.join(folder, 'installed.txt');
  const wanted = await readFile(lock, 'utf8');
  const installed = await readFile(done, 'utf8').catch(() => '');
  if (installed !== wanted) {
    await mkdir(BUILT, { recursive: true });
    await run(name, 'python3', '-m', 'venv', '--clear', folder);
    await run(name, python, '-m', 'pip', 'install', '--quiet', '--require-hashes', '-r', lock);
    await writeFile(done, wanted);
  }
  return python;
}

export async function pythonClient(): Promise<readonly string[]> {
  return [await pythonOf('python'), path.join(SOURCES, 'python', 'client.py')];
}

export async function authlibClient(): Promise<readonly string[]> {
  return [await pythonOf('authlib'), path.join(SOURCES, 'authlib', 'client.py')];
}

/**
 * Returns the command for an application as docs/connecting/mozilla-django-oidc.md describes it.
 */
export async function djangoApplication(): Promise<readonly string[]> {
  return [await pythonOf('django'), path.join(SOURCES, 'django', 'app.py')];
}

/** Builds an application as docs/connecting/authjs.md describes it. */
export async function authjsApplication(): Promise<readonly string[]> {
  const folder = path.join(BUILT, 'authjs');
  await mkdir(BUILT, { recursive: true });
  await cp(path.join(SOURCES, 'authjs'), folder, { recursive: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  await run('authjs', 'npm', 'ci', '--prefix', folder, ...options);
  return [process.execPath, path.join(folder, 'server.mjs')];
}

/** Maven has no lockfile, but each release names the versions with which it was published. */
export async function springClient(): Promise<readonly string[]> {
  const folder = path.join(BUILT, 'spring');
  const [classes, known] = [path.join(folder, 'classes'), path.join(folder, 'classpath.txt')];
  const done = path.join(folder, 'installed.txt');
  const wanted = await readFile(path.join(SOURCES, 'spring', 'pom.xml'), 'utf8');
  const installed = await readFile(done, 'utf8').catch(() => '');
  if (installed !== wanted) {
    await mkdir(folder, { recursive: true });
    const goal = ['dependency:build-classpath', `-Dmdep.outputFile=${known}`];
    await run('spring', 'mvn', '--batch-mode', '--quiet', '--no-transfer-progress', ...goal);
    await writeFile(done, wanted);
  }
  const libraries = await readFile(known, 'utf8');
  await run('spring', 'javac', '-cp', libraries, '-d', classes, 'Client.java');
  return ['java', '-cp', `${classes}${path.delimiter}${libraries}`, 'Client'];
}
