// @engines all, long: several processes race
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { portico, ROOT } from './support/console.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';

const HOST = path.join(ROOT, 'examples', 'assistant');

let storage: string;
let database: TestDatabase;

beforeEach(async () => {
  storage = await mkdtemp(path.join(tmpdir(), 'portico-assistant-setup-'));
  database = await createDatabase(storage);
});
afterEach(async () => {
  await database.drop();
  await rm(storage, { recursive: true, force: true });
});

function run(...args: readonly string[]) {
  const env = {
    STORAGE_DIR: storage,
    DATABASE_URL: database.url,
    ASSISTANT_REDIRECT_URI: 'https://vendor.example/callback',
  };
  return portico(args, { cwd: HOST, env });
}

interface Setup {
  readonly clients: readonly {
    readonly role: string;
    readonly client_id: string;
    readonly client_secret: string | null;
    readonly state: string;
  }[];
}

describe('assistant:setup in several processes at the same time', () => {
  // @shows MCP-4.3, MCP-4.5
  test('registers each client and prints its secret once, and the others report it as existing', async () => {
    expect((await run('db:migrate', 'up')).code).toBe(0);
    const setups = await Promise.all(
      Array.from({ length: 3 }, () => run('assistant:setup', '--json')),
    );
    expect(setups.map(({ code, stderr }) => [code, stderr])).toEqual(setups.map(() => [0, '']));
    const clients = setups.flatMap(({ stdout }) => (JSON.parse(stdout) as Setup).clients);
    for (const role of ['service', 'account-linking']) {
      const told = clients.filter((client) => client.role === role);
      expect(told.map(({ state }) => state).toSorted()).toEqual([
        'registered',
        'unchanged',
        'unchanged',
      ]);
      expect(new Set(told.map(({ client_id: id }) => id)).size).toBe(1);
      expect(told.filter(({ client_secret: secret }) => secret !== null)).toMatchObject([
        { state: 'registered' },
      ]);
    }
    const listed = JSON.parse(
      (await run('oauth:client:list', '--json')).stdout,
    ) as readonly unknown[];
    expect(listed).toHaveLength(2);
    expect(await run('assistant:doctor')).toMatchObject({ code: 0 });
  });
});
