import { openDatabase, type Migration, type SchemaConnection, type SqlDialect } from '@portico/sql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Feature } from '../feature.ts';
import { configurationWith, getApplicationKeys } from './feature-configuration.ts';
import { examineTables } from './table-examination.ts';

const number = z.number();

describe('the configuration of a server', () => {
  const own: Feature = {
    name: 'own',
    config: { own_limit: number },
    scopeConfig: { own_color: number },
    applicationConfig: { own_key: number },
  };

  test('has the keys of a feature', () => {
    const { shape } = configurationWith([own]);
    expect(shape['own_limit']).toBe(number);
    expect(Object.keys(shape)).toEqual(expect.arrayContaining(['name', 'scopes', 'own_limit']));
    expect(Object.keys(configurationWith([]).shape)).not.toContain('own_limit');
    const scopes = { 'notes:read': { label: 'Read notes', own_color: 7 } };
    expect(shape['scopes']?.safeParse(scopes).success).toBe(true);
    expect(configurationWith([]).shape['scopes']?.safeParse(scopes).success).toBe(false);
    expect(getApplicationKeys([own, { name: 'more' }])).toEqual({ own_key: number });
  });

  test('reports each unknown key in one line', () => {
    const config = { name: 'A', scopes: {}, key_path: '/k', aa: 1, admin_permission: 'b' };
    const { error } = configurationWith([]).safeParse(config);
    expect(error?.issues.map(({ message }) => message)).toContain(
      'oauth_server:aa is not a known key; remove it; oauth_server:admin_permission needs the ' +
        'package @portico/admin; install it and pass features: [administration] to oauthServer()',
    );
    const typed = configurationWith([]).safeParse('text').error?.issues[0]?.message;
    expect(typed).toBe('Invalid input: expected object, received string');
  });

  test.each<[string, Feature[]]>([
    ['name', [{ name: 'own', config: { name: number } }]],
    ['own_limit', [own, { name: 'own', config: { own_limit: number } }]],
    ['label', [{ name: 'own', scopeConfig: { label: number } }]],
    ['own_color', [own, { name: 'own', scopeConfig: { own_color: number } }]],
  ])('cannot have the key %s twice', (key, features) => {
    expect(() => configurationWith(features)).toThrow(
      `The feature own adds the configuration key ${key}, which already exists`,
    );
  });

  test('cannot have the key of an application twice', () => {
    expect(() => getApplicationKeys([own, own])).toThrow('the configuration key own_key, which');
    expect(getApplicationKeys([{ name: 'own', applicationConfig: { name: number } }])).toEqual({
      name: number,
    });
  });
});

describe('the tables of applied migrations', () => {
  const creating = (name: string, ...statements: readonly string[]): Migration => ({
    name,
    up: async (schema: SchemaConnection) => {
      for (const sql of statements) {
        const { rows } = await schema.execute(sql);
        // The step runs without a database, so there are no rows to copy.
        for (const row of rows)
          await schema.execute(`CREATE TABLE of_${JSON.stringify(row).length} (id TEXT)`);
      }
      await schema.change(`CREATE TABLE ${name}_more (id ${schema.types.identifier})`);
    },
  });
  const MIGRATIONS = [
    creating('one', 'CREATE TABLE one (id TEXT)', 'CREATE INDEX i ON one (id)'),
    creating('two', 'SELECT 1; CREATE TABLE late (id TEXT)'),
  ];

  /** Returns the findings with these tables, after these migrations. */
  async function findings(
    tables: readonly string[],
    applied: Readonly<Record<string, number | null>> | Error,
    store?: object,
  ) {
    const database = openDatabase('sqlite::memory:', { directory: '/' });
    onTestFinished(() => database.close());
    for (const table of tables) await database.execute(`CREATE TABLE ${table} (id TEXT)`);
    const steps = async () => {
      if (applied instanceof Error) throw applied;
      return Object.entries(applied).map(([name, appliedAt]) => ({ name, appliedAt }));
    };
    const examination = examineTables(MIGRATIONS);
    expect(examination.part).toBe('table access');
    return examination.findings?.({ database: store ?? database, migrations: steps } as never);
  }
  const missing = (table: string) => ({
    outcome: 'failing',
    detail: `the table ${table} does not exist, although its migration is applied`,
    remedy: 'restore the table from a backup (docs/restore.md)',
  });

  test('must exist', async () => {
    const all = ['one', 'one_more', 'two_more'];
    expect(await findings(all, { one: 1, two: 1 })).toEqual([]);
    expect(await findings(['one'], { one: 1, two: 1 })).toEqual(
      ['one_more', 'two_more'].map(missing),
    );
    expect(await findings([], { one: 1, two: null, three: 1 })).toEqual(
      ['one', 'one_more'].map(missing),
    );
    expect(await findings([], new Error('The store does not respond'))).toEqual([]);
  });

  test('may be busy, and an error that is no Error is not a finding', async () => {
    const failing = (problem: unknown, rows: readonly object[], dialect?: SqlDialect) =>
      findings(
        [],
        { two: 1 },
        {
          dialect: dialect ?? 'sqlite',
          execute: async (sql: string, [table]: readonly string[] = []) => {
            if (sql === 'SELECT * FROM two_more LIMIT 0') throw problem;
            return { rows: table === 'two_more' ? rows : [], affected: 0 };
          },
        },
      );
    expect(await failing(new Error('busy'), [{ name: 'two_more' }])).toEqual([]);
    expect(await failing(new Error('no such table'), [])).toEqual([missing('two_more')]);
    await expect(failing('text', [])).rejects.toBe('text');
    const denied = Object.assign(new Error('permission denied for table two_more'), {
      code: '42501',
    });
    expect(await failing(denied, [], 'postgres')).toEqual([
      {
        outcome: 'failing',
        detail: 'two_more: permission denied for table two_more',
        remedy: expect.stringMatching(/^grant the missing privilege/) as string,
      },
    ]);
  });
});
