// @engines all: it creates tables
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  configurationWith,
  createAuthorizationServer,
  defineApplication,
  defineFeature,
  examine,
  migrate,
  migrationStatus,
  migrationsWith,
  oauthServer,
  oauthServerMigrations,
  openDatabase,
  startApplication,
  type Migration,
} from 'portico';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createDatabase } from './support/database.ts';

declare module 'portico' {
  interface OAuthServerConfigInput {
    readonly visits?: boolean | undefined;
  }
}

/** Tables that a feature adds. */
const step: Migration = {
  name: 'oauth_server_visits_0001_table',
  async up({ change, types }) {
    const { identifier, time, tableOptions } = types;
    await change(
      `CREATE TABLE visits (id ${identifier} NOT NULL PRIMARY KEY, expires_at ${time} NOT NULL) ${tableOptions}`,
    );
  },
};

const featureWith = (migration: Migration) =>
  defineFeature({
    name: 'visits',
    config: { visits: z.boolean().optional() },
    migrations: ({ visits: isOn = false }) => (isOn ? [migration] : []),
  });
const visits = featureWith(step);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-tables-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function emptyDatabase() {
  const created = await createDatabase(folder);
  onTestFinished(() => created.drop());
  return created.url;
}

function definitionWith(url: string, isOn: boolean) {
  return defineApplication({
    directory: folder,
    config: {
      public_url: 'https://app.example',
      database_url: url,
      oauth_server: { name: 'App', scopes: {}, visits: isOn, key_path: path.join(folder, 'keys') },
    },
    plugins: [
      oauthServer({
        features: [visits],
        host: {
          signedIn: async () => null,
          loadAccount: async () => null,
          holdsPermission: async () => false,
          loginUrl: '/login',
        },
      }),
    ],
  });
}

async function start(url: string, isOn: boolean) {
  const application = await startApplication(definitionWith(url, isOn), {
    standardOutput: 'stderr',
  });
  onTestFinished(() => application.close());
  return application;
}

const pendingIn = (
  states: readonly { readonly name: string; readonly appliedAt: string | null }[],
) => states.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name);

// @shows AS-20.4
test('a schema contains the tables of a feature only if the feature is on', async () => {
  const url = await emptyDatabase();
  const without = await start(url, false);
  expect(await without.migrate()).not.toContain(step.name);
  expect(await without.printMigrations()).toBe('');
  const application = await start(url, true);
  expect(pendingIn(await application.migrations())).toEqual([step.name]);
  expect(await application.printMigrations()).toMatch(/CREATE TABLE visits/);
  expect(await application.migrate()).toEqual([step.name]);
  expect(await application.printMigrations()).toBe('');
  const insert = "INSERT INTO visits (id, expires_at) VALUES ('1', 5)";
  expect((await application.database.execute(insert)).affected).toBe(1);
  // When the feature is off again, its rows stay in the database.
  const again = await start(url, false);
  expect(pendingIn(await again.migrations())).toEqual([]);
  expect((await again.database.execute('SELECT id FROM visits')).rows).toEqual([{ id: '1' }]);
});

// @shows AS-20.4
test('a server without the kit needs the tables too, and the doctor lists the missing ones', async () => {
  let runs = 0;
  const counted = featureWith({
    name: step.name,
    async up(schema) {
      runs += 1;
      await step.up(schema);
    },
  });
  const database = openDatabase(await emptyDatabase(), { directory: folder });
  onTestFinished(() => database.close());
  const section = { name: 'App', scopes: {}, visits: true, key_path: path.join(folder, 'keys') };
  const config = configurationWith([counted]).parse(section);
  const all = migrationsWith(config, [counted]);
  expect(all.map(({ name }) => name)).toEqual(
    [...oauthServerMigrations, step].map(({ name }) => name),
  );
  await migrate(database, oauthServerMigrations);
  const server = createAuthorizationServer({
    publicUrl: 'https://app.example',
    config,
    database,
    features: [counted],
    host: {
      signedIn: async () => null,
      loadAccount: async () => null,
      holdsPermission: async () => false,
      loginUrl: '/login',
      log: { debug() {}, info() {}, warning() {}, error() {} },
    },
  });
  const schema = async () => {
    const { checks } = await examine(
      { database, migrations: () => migrationStatus(database, all) },
      server,
    );
    expect(checks.filter(({ part }) => part === 'table access')).toEqual([]);
    const found = checks.find(({ part }) => part === 'schema');
    return [found?.outcome, found?.detail];
  };
  expect(await schema()).toEqual([
    'failing',
    `these database migrations are not applied: ${step.name}`,
  ]);
  await migrate(database, all);
  expect(await schema()).toEqual(['ok', 'all database migrations are applied']);
  // The doctor checks only Portico's own tables, and runs no migration of your features.
  await database.execute('DROP TABLE visits');
  expect(await schema()).toEqual(['ok', 'all database migrations are applied']);
  expect(runs).toBe(1);
});

test.each([
  'visits',
  'oauth_server_0002_visits',
  'oauth_server_visits_1_table',
  'oauth_server_visits_0001_',
])('a migration named like one of a feature, or without a number, is refused: %s', (name) => {
  const misnamed = featureWith({ ...step, name });
  const config = configurationWith([misnamed]).parse({ name: 'App', scopes: {}, visits: true });
  expect(() => migrationsWith(config, [misnamed])).toThrow(
    `The feature visits adds the migration ${name}; its name must begin with oauth_server_visits_0001_`,
  );
});
