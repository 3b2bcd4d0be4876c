// @engines servers: SQLite has no pool of connections
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseAccounts, startApplication } from '@portico/kit';
import portal from '../examples/portal/app.ts';
import { porticoHere, ROOT } from './support/console.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';

const MANY = 30_000;
const ROWS_PER_STATEMENT = 1000;

let storage: string;
let created: TestDatabase;

beforeAll(async () => {
  storage = await mkdtemp(path.join(tmpdir(), 'portico-account-list-'));
  created = await createDatabase(storage);
});
afterAll(async () => {
  await created.drop();
  await rm(storage, { recursive: true, force: true });
});

// @shows HOST-4.3
test('account:list lists tens of thousands of accounts with their permissions', async () => {
  const env = { STORAGE_DIR: storage, DATABASE_URL: created.url };
  const application = await startApplication(portal, { env });
  const { database } = application;
  await application.migrate();
  for (let from = 0; from < MANY; from += ROWS_PER_STATEMENT) {
    const rows = Array.from({ length: ROWS_PER_STATEMENT }, (_, index) => {
      const number = String(from + index).padStart(6, '0');
      return `('accounts', '${number}', '${number}@example.com', 1, 'One', 'none', 1, 0)`;
    });
    await database.execute(`INSERT INTO host_accounts VALUES ${rows.join(', ')}`);
  }
  const { grant } = databaseAccounts(application);
  for (const permission of ['write', 'edit']) await grant('000007', permission);
  await application.close();

  const { code, stdout } = await porticoHere(['account:list', '--json'], {
    cwd: path.join(ROOT, 'examples', 'portal'),
    env,
  });
  expect(code).toBe(0);
  const listed = JSON.parse(stdout) as readonly { id: string; permissions: readonly string[] }[];
  expect(listed).toHaveLength(MANY);
  expect(listed.filter(({ permissions }) => permissions.length > 0)).toEqual([
    expect.objectContaining({ id: '000007', permissions: ['edit', 'write'] }),
  ]);
});
