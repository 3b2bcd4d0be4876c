// @engines sqlite: the database makes no difference
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase, systemTimer } from '@portico/sql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Branding } from '../pages/branding.ts';
import { startApplication, StartedApplication } from './application.ts';
import type { ApplicationDefinition, ApplicationParts } from './definition.ts';
import { countHashesAtOnce } from '../../../../test/support/hashes-at-once.ts';
import { EMPTY_PLUGIN } from '../../../../test/support/plugin.ts';
import type { Plugin } from './plugin.ts';
import type { Application } from './started-application.ts';

/** No test connects to it. */
const SERVER = 'postgres://127.0.0.1:1/none';

let folder: string;
let application: StartedApplication | null = null;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-parts-'));
});
afterEach(async () => {
  const opened = application;
  application = null;
  try {
    await opened?.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});

async function start(parts: Partial<ApplicationDefinition>, env = {}): Promise<StartedApplication> {
  const config = { public_url: 'https://app.example' };
  const started = await startApplication({ directory: folder, config, ...parts }, { env });
  application = started as StartedApplication;
  return application;
}

const plugin = (parts: Partial<Plugin>): Plugin => ({
  ...EMPTY_PLUGIN,
  name: 'own',
  ...parts,
});

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  await writeFile(path.join(folder, file), text);
}

test('views come from the application, then from plugins, and change only in development', async () => {
  await write('views/one.eta', 'of the application');
  await write('plugin/one.eta', 'of the plugin');
  await write('plugin/two.eta', 'of the plugin');
  const plugins = [plugin({}), plugin({ views: path.join(folder, 'plugin') })];
  for (const [mode, changed] of [
    ['prod', 'of the plugin'],
    ['dev', 'changed'],
  ] as const) {
    await write('plugin/two.eta', 'of the plugin');
    const { views } = await start({ plugins }, { APP_ENV: mode });
    expect(await views.render('one', {})).toBe('of the application');
    expect(await views.render('two', {})).toBe('of the plugin');
    await write('plugin/two.eta', 'changed');
    expect(await views.render('two', {})).toBe(changed);
    await application?.close();
  }
});

test('branding is data of each view, and its files have routes', async () => {
  await write('views/one.eta', '<%= it.branding.accent %>');
  const logo = { name: 'logo', path: '/logo.png', respond: () => new Response('a picture') };
  const branding = { view: { accent: 'green' }, logos: [logo] } as unknown as Branding;
  const plugins = [plugin({ branding: () => branding })];
  for (const [more, at] of [
    [{}, '/logo.png'],
    [{ base_path: '/auth' }, '/auth/logo.png'],
    [{ base_path: '/auth', base_path_stripped: true }, '/logo.png'],
  ] as const) {
    const config = { public_url: 'https://app.example', ...more };
    const started = await start({ plugins, config });
    expect(await started.views.render('one', {})).toBe('green');
    const response = await started.fetch(new Request(`https://app.example${at}`));
    expect(await response.text()).toBe('a picture');
    await application?.close();
  }
});

test('the database of the application is opened with the timer, the log and the schema', async () => {
  const asked: unknown[] = [];
  const database = {
    open(options: unknown) {
      asked.push(options);
      return openDatabase('sqlite::memory:', { directory: folder });
    },
  } as unknown as NonNullable<ApplicationDefinition['database']>;
  const config = { public_url: 'https://app.example', database_schema: 'own' };
  expect((await start({ database, config })).pool).toBeNull();
  const server = { open: () => openDatabase(SERVER, { directory: folder }) };
  expect((await start({ database: server as never })).pool).toBeNull();
  const log = { error: expect.any(Function) as unknown };
  expect(asked).toMatchObject([{ timer: systemTimer, schema: 'own', log }]);
  await application?.close();
  await start({ database });
  expect(asked[1]).not.toHaveProperty('schema');
});

test('the database of the configuration has a pool, or is a file in the folder', async () => {
  const config = { public_url: 'https://app.example', database_pool_size: 7 };
  const { pool } = await start({ config }, { DATABASE_URL: SERVER });
  expect(pool).toEqual({ size: 7, lifetime: expect.any(Number) as number });
  await application?.close();
  const { database } = await start({}, { DATABASE_URL: 'sqlite:own.sqlite' });
  await database.execute('SELECT 1');
  expect(await readdir(folder)).toContain('own.sqlite');
});

test('the words of pages come from the first plugin with words, and from files', async () => {
  await write('views/words/xx.json', '{}');
  const words = ({ public_url: url }: object & { public_url?: unknown }) => ({
    languages: url === 'https://app.example',
    catalogs: { de: async () => ({}) },
  });
  const later = plugin({ words: () => ({ languages: false }) });
  const { speaking } = await start({ plugins: [plugin({}), plugin({ words }), later] });
  expect(speaking.locales).toEqual(['en', 'de', 'xx']);
  await application?.close();
  const without = await start({ plugins: [plugin({})] });
  expect(without.speaking.locales).toBeNull();
  await application?.close();
  const { views } = await start({});
  await expect(views.render('oauth/none', {})).rejects.toThrow("There is no view 'oauth/none'");
});

test('a framework can extend the application, and knows the phase of its start', async () => {
  class Own extends StartedApplication {
    get state() {
      return [this.phase, this.middlewares.length];
    }
  }
  const states: unknown[] = [];
  const note = (own: Application) => void states.push((own as Own).state);
  const framework = {
    migrations: () => [],
    async start(parts: ApplicationParts) {
      const own = new Own(parts);
      await own.registerParts();
      return own;
    },
  } as never;
  const register = (own: Application) => {
    note(own);
    own.middleware((_, next) => next());
  };
  const own = await start({ framework, plugins: [plugin({ register: note })], register });
  note(own);
  expect(states).toEqual([
    ['plugins', 0],
    ['application', 0],
    ['started', 1],
  ]);
});

test('the application computes one hash of a client secret at a time', async () => {
  const { passwordHasher } = await start({});
  const most = await countHashesAtOnce(() =>
    Promise.all(['one', 'two', 'three'].map((secret) => passwordHasher.hash(secret))),
  );
  expect(most).toBe(1);
});

test('a framework starts its own application', async () => {
  const own = { close: async () => {} };
  const framework = { migrations: () => [], start: async () => own } as never;
  expect(await start({ framework })).toBe(own);
});
