import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHandler } from 'portico/fetch';
import { defineApplication, startApplication, type Application } from '@portico/kit';
import { authorizationServerOf, oauthServer } from 'portico';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';

const URL_OF_APPLICATION = 'http://localhost:8080';

let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let application: Application;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-schema-'));
  created = await createDatabase(folder);
  const definition = defineApplication({
    directory: folder,
    config: {
      public_url: URL_OF_APPLICATION,
      log: { path: path.join(folder, 'app.log') },
      oauth_server: {
        name: 'Host',
        login_route: '/sign-in',
        scopes: { 'notes:read': 'Read your notes' },
      },
    },
    plugins: [
      oauthServer({
        host: {
          signedIn: async () => null,
          loadAccount: async () => null,
          holdsPermission: async () => false,
          loginUrl: '/sign-in',
        },
      }),
    ],
  });
  const env = { APP_ENV: 'dev', STORAGE_DIR: folder, DATABASE_URL: created.url };
  application = await startApplication(definition, { env });
});
afterAll(async () => {
  await application.close();
  await created.drop();
  await rm(folder, { recursive: true });
});

const messages = async () => {
  const log = await readFile(path.join(folder, 'app.log'), 'utf8').catch(() => '');
  const lines = log.split('\n').filter((line) => line !== '');
  return lines.map(
    (line) => JSON.parse(line) as { readonly level: string; readonly message: string },
  );
};

const BROWSER = 'text/html,application/xhtml+xml';

// @shows AS-19.4
test('a mount without its tables prints a warning, and its error page names the migrate command', async () => {
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  const handle = createHandler(authorizationServerOf(application));
  const { name, message } = await warned;
  expect([name, message]).toEqual([
    'PorticoWarning',
    expect.stringMatching(
      /^Some database migrations are not applied: .*0001.*; run npx portico db:migrate up$/,
    ),
  ]);
  const url = `${URL_OF_APPLICATION}/oauth/authorize?client_id=x`;
  const page = await handle(new Request(url, { headers: { Accept: BROWSER } }));
  expect([page?.status, await page?.text()]).toEqual([
    500,
    expect.stringMatching(
      /Under APP_ENV=dev: Some database migrations are not applied: .*run npx portico db:migrate up/,
    ),
  ]);
});

test('a mount without its tables starts, and its first log line names the migrate command', async () => {
  const handle = createHandler(authorizationServerOf(application));
  const ask = async () => {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'x',
      client_secret: 'y',
    });
    const answer = await handle(
      new Request(`${URL_OF_APPLICATION}/oauth/token`, { method: 'POST', body }),
    );
    return [answer?.status, await answer?.json()];
  };
  expect(await ask()).toMatchObject([500, { error: 'server_error' }]);
  const told = async () =>
    (await messages()).filter(({ message }) => message.endsWith('; run npx portico db:migrate up'));
  await expect.poll(told).not.toEqual([]);
  // On a slow machine, the log contains the line again after some time.
  const lines = new Set((await told()).map(({ level, message }) => `${level}: ${message}`));
  expect([...lines]).toEqual([expect.stringMatching(/^error: .*0001/)]);

  await application.migrate();
  expect((await ask())[0]).toBe(401);
});
