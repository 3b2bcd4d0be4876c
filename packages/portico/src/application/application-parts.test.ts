// @engines sqlite: the database makes no difference
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase, systemTimer } from '@portico/sql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Branding } from '../pages/branding.ts';
import { startApplication, type StartedApplication } from './application.ts';
import type { ApplicationDefinition } from './definition.ts';
import { EMPTY_PLUGIN } from '../../../../test/support/plugin.ts';
import type { Plugin } from './plugin.ts';

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
  const started = await start({ plugins: [plugin({ branding: () => branding })] });
  expect(await started.views.render('one', {})).toBe('green');
  const response = await started.fetch(new Request('https://app.example/logo.png'));
  expect(await response.text()).toBe('a picture');
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
  const log = { error: expect.any(Function) as unknown };
  expect(asked).toMatchObject([{ timer: systemTimer, schema: 'own', log }]);
  await application?.close();
  await start({ database });
  expect(asked[1]).not.toHaveProperty('schema');
});

test('a framework starts its own application', async () => {
  const own = { close: async () => {} };
  const framework = { migrations: () => [], start: async () => own } as never;
  expect(await start({ framework })).toBe(own);
});
