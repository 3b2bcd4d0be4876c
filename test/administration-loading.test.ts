// @engines sqlite: it starts applications, but does not use their databases
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT, start } from './support/console.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-administration-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * Starts an application, requests its metadata, and returns the files it read that contain texts of
 * pages.
 */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const read = [];
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (String(loaded.source ?? '').includes('Give this application a new secret?')) read.push(url);
      return loaded;
    },
  });
  const { oauthServer, startApplication } = await import(PORTICO);
  const { administration } = await import(ADMIN);
  const application = await startApplication({
    config: { public_url: 'https://app.example', log: { path: 'stdout' }, oauth_server: CONFIG },
    plugins: [oauthServer({ features: [administration], host: { signedIn: async () => null, loginUrl: '/login', browserSecret: async () => '' } })],
    directory: import.meta.dirname,
  }, { env: { DATABASE_URL: 'sqlite::memory:', STORAGE_DIR: import.meta.dirname } });
  const { status } = await application.fetch(new Request('https://app.example/.well-known/jwks.json'));
  const pages = await application.fetch(new Request('https://app.example/oauth/admin'));
  process.stdout.write(JSON.stringify({ status, pages: pages.status, read: read.length }));
  process.exit();`;

async function loaded(config: object): Promise<unknown> {
  const built = (name: string) =>
    JSON.stringify(pathToFileURL(path.join(ROOT, 'packages', name, 'dist', 'index.js')).href);
  const script = path.join(folder, 'script.mjs');
  const source = SCRIPT.replace('PORTICO', built('portico'))
    .replace('ADMIN', built('admin'))
    .replace(
      'CONFIG',
      JSON.stringify({ name: 'App', scopes: { a: 'A' }, login_route: '/login', ...config }),
    );
  await writeFile(script, source);
  const run = start([script], { cwd: folder });
  await run.ended();
  try {
    return JSON.parse(run.stdout()) as unknown;
  } catch {
    throw new Error(`It said ${run.stdout()} ${run.stderr()}`);
  }
}

describe('the code of the administration pages', () => {
  // @shows AS-33.1
  test('is not loaded without oauth_server:admin_permission', async () => {
    expect(await loaded({})).toMatchObject({ pages: 404, read: 0 });
  });

  test('is loaded with it', async () => {
    expect(await loaded({ admin_permission: 'a' })).toMatchObject({ pages: 302, read: 1 });
  });
});
