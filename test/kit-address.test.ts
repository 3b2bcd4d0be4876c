// @engines sqlite: it tests requests, and not the database
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineApplication, startApplication, type Application } from '@portico/kit';
import { oauthServer, type AuditEvent } from 'portico';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from './support/database.ts';

let folder: string;
let created: Awaited<ReturnType<typeof createDatabase>>;
let application: Application;
const events: AuditEvent[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-address-'));
  created = await createDatabase(folder);
  const definition = defineApplication({
    directory: folder,
    config: {
      public_url: 'http://localhost:8080',
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
          audit: async (event) => void events.push(event),
        },
      }),
    ],
  });
  const env = { APP_ENV: 'dev', STORAGE_DIR: folder, DATABASE_URL: created.url };
  application = await startApplication(definition, { env });
  await application.migrate();
});
afterAll(async () => {
  await application.close();
  await created.drop();
  await rm(folder, { recursive: true });
});

// @shows AS-1.10
test('a kit application counts failed attempts by the caller address passed to fetch()', async () => {
  for (const address of ['192.0.2.7', '198.51.100.9']) {
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: 'x',
      client_secret: 'y',
    });
    const request = new Request('http://localhost:8080/oauth/token', { method: 'POST', body });
    expect((await application.fetch(request, { address })).status).toBe(401);
  }
  expect(events).toMatchObject([{ address: '192.0.2.7' }, { address: '198.51.100.9' }]);
});
