// @engines sqlite, needs npm: it bundles an application that uses only SQLite
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { packInto } from '../examples/install.ts';
import { PACKAGES } from '../tools/scripts/packages.ts';
import { ROOT } from './support/console.ts';
import { REDIRECT_URI, VERIFIER, codeRequest } from './support/portal.ts';
import { freePort } from './support/free-port.ts';
import { SCALE } from './support/scale.ts';
import { createVisitor, locationOf } from './support/visitor.ts';

const run = promisify(execFile);

/** Bundles `app.js` in the folder into one file; returns the bundler's warnings. */
type Bundle = (folder: string, file: string) => Promise<readonly string[]>;

const withRolldown: Bundle = async (folder, file) => {
  const warnings: string[] = [];
  const bundled = await rolldown({
    input: path.join(folder, 'app.js'),
    cwd: folder,
    platform: 'node',
    onLog: (_, { message }) => warnings.push(message),
  });
  await bundled.write({ file, codeSplitting: false });
  await bundled.close();
  return warnings;
};

/** The others are packages of test/bundlers. */
const installed = (folder: string) => createRequire(path.join(folder, 'tools', 'package.json'));

interface Esbuild {
  build(options: object): Promise<{ readonly warnings: readonly { readonly text: string }[] }>;
}

const withEsbuild: Bundle = async (folder, file) => {
  const esbuild = installed(folder)('esbuild') as Esbuild;
  const { warnings } = await esbuild.build({
    entryPoints: [path.join(folder, 'app.js')],
    outfile: file,
    absWorkingDir: folder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Express is a CommonJS package that requires Node's built-in modules.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'silent',
  });
  return warnings.map(({ text }) => text);
};

interface WebpackStats {
  toJson(): Readonly<
    Record<
      'warnings' | 'errors',
      readonly { readonly message: string; readonly moduleName?: string }[]
    >
  >;
}
type Webpack = (options: object, done: (error: Error | null, stats: WebpackStats) => void) => void;

const withWebpack: Bundle = async (folder, file) => {
  const webpack = installed(folder)('webpack') as Webpack;
  const stats = await new Promise<WebpackStats>((resolve, reject) => {
    const options = {
      mode: 'production',
      target: 'node',
      context: folder,
      entry: path.join(folder, 'app.js'),
      experiments: { outputModule: true },
      output: { path: path.dirname(file), filename: path.basename(file), module: true },
      optimization: { minimize: false, nodeEnv: false },
    };
    webpack(options, (error, done) => (error === null ? resolve(done) : reject(error)));
  });
  const { errors, warnings } = stats.toJson();
  return (
    [...errors, ...warnings]
      // It loads view engines by name.
      .filter(({ moduleName = '' }) => !moduleName.includes('express/lib/view.js'))
      .map(({ message, moduleName }) => `${moduleName ?? ''}: ${message}`)
  );
};

const BUNDLERS: readonly (readonly [string, Bundle])[] = [
  ['rolldown', withRolldown],
  ['esbuild', withEsbuild],
  ['webpack', withWebpack],
];
const CHOSEN = BUNDLERS.slice(0, SCALE.bundlers);

let folder: string;

/** The application with Portico as `npm publish` would upload it, and without drivers. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-bundlers-'));
  const source = path.join(ROOT, 'test', 'bundlers');
  const modules = path.join(folder, 'node_modules');
  await mkdir(modules);
  await cp(path.join(source, 'app.js'), path.join(folder, 'app.js'));
  const npm = (cwd: string, args: readonly string[]) => run('npm', args, { cwd });
  await packInto(folder, npm);
  const needed = new Set(['express', 'express-session']);
  for (const { name } of PACKAGES) {
    const own = path.join(modules, name);
    await mkdir(own, { recursive: true });
    const tarball = `${name.replace('@', '').replace('/', '-')}.tgz`;
    await run('tar', ['xzf', path.join(folder, tarball), '--strip-components=1'], { cwd: own });
    const { dependencies = {} } = JSON.parse(
      await readFile(path.join(own, 'package.json'), 'utf8'),
    ) as {
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    for (const each of Object.keys(dependencies)) needed.add(each);
  }
  for (const { name } of PACKAGES) needed.delete(name);
  for (const name of needed) {
    await mkdir(path.join(modules, path.dirname(name)), { recursive: true });
    await symlink(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  }
  if (CHOSEN.length === 1) return;
  await cp(source, path.join(folder, 'tools'), {
    recursive: true,
    filter: (file) => path.basename(file) !== 'node_modules',
  });
  await run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: path.join(folder, 'tools'),
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a bundle in a folder that contains only the application's own views. */
async function start(file: string) {
  const directory = path.dirname(file);
  await cp(path.join(ROOT, 'test', 'bundlers', 'views'), path.join(directory, 'views'), {
    recursive: true,
  });
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const child = spawn(process.execPath, [file], {
    cwd: directory,
    env: { APP_ENV: 'dev', PUBLIC_URL: url, PORT: String(port), DIRECTORY: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', error: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.error += text));
  const closed = once(child, 'close');
  const listening = new Promise<{ readonly id: string; readonly secret: string }>(
    (resolve, reject) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said.out += text;
        if (said.out.endsWith('\n'))
          resolve(JSON.parse(said.out) as { id: string; secret: string });
      });
      child.once('close', () => reject(new Error(`The bundle ended:\n${said.error}`)));
    },
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  return { url, client: await listening, said };
}

describe('an application that bundles Portico, without pg, mysql2 and argon2', () => {
  test.each(CHOSEN)(
    'by %s has no warnings, runs alone, signs in, shows its pages, and issues a token',
    async (name, bundle) => {
      const file = path.join(folder, `alone-${name}`, 'app.mjs');
      expect(await bundle(folder, file)).toEqual([]);
      const { url, client, said } = await start(file);
      const visitor = createVisitor(url);
      const query = codeRequest(client.id, { scope: 'openid profile orders:read' });
      const login = await visitor.visit(`/oauth/authorize?${query}`);
      const question = await visitor.visit(locationOf(await visitor.submit(login, {})).href);
      expect(await question.clone().text()).toContain('Signed in as <strong><bdi>Ada Lovelace');
      const answer = locationOf(await visitor.submit(question, { decision: 'allow' }));
      const issued = await fetch(`${url}/oauth/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code: answer.searchParams.get('code') ?? '',
          redirect_uri: REDIRECT_URI,
          code_verifier: VERIFIER,
        }),
      });
      const { access_token: token = '' } = (await issued.json()) as {
        readonly access_token?: string;
      };
      const bearer = { Authorization: `Bearer ${token}` };
      expect(await (await fetch(`${url}/api/orders`, { headers: bearer })).json()).toEqual({
        of: 'Ada Lovelace',
      });
      const tools = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          ...bearer,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      });
      expect(await tools.json()).toMatchObject({ result: { tools: [] } });
      const refused = await visitor.get('/oauth/authorize?client_id=unknown');
      expect([refused.status, await refused.text()]).toEqual([
        400,
        expect.stringContaining('In words of this application'),
      ]);
      expect(said.error).toBe('');
    },
  );
});
