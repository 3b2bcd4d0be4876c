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

test('a mount without its tables starts, and its first log line names the command that makes them', async () => {
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
  await expect
    .poll(told)
    .toMatchObject([{ level: 'error', message: expect.stringContaining('0001') }]);

  await application.migrate();
  expect((await ask())[0]).toBe(401);
  expect(await told()).toHaveLength(1);
});
