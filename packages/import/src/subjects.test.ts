// @engines sqlite: it tests accepted subjects; test/importing.test.ts runs on every engine
import type { PersonReference } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openImporting, type ImportingServers } from '../../../test/support/importing-server.ts';

let servers: ImportingServers;
beforeAll(async () => {
  servers = await openImporting();
});
afterAll(() => servers.close());
beforeEach(() => void servers.events.splice(0));

/** Returns a record of an account that the application has, and that has no subject yet. */
const record = (more: Readonly<Record<string, unknown>> = {}) => ({
  provider: 'accounts',
  id: `known-${crypto.randomUUID()}`,
  sub: `auth|${crypto.randomUUID()}`,
  ...more,
});
const give = (records: readonly unknown[], options = {}) =>
  servers.serverWith().importing.subjects(records, options);
const imported = (at: number) => ({ record: at, outcome: 'imported', problem: null });
const unchanged = (at: number) => ({ record: at, outcome: 'unchanged', problem: null });
const refused = (at: number, problem: string) => ({ record: at, outcome: 'refused', problem });
const withEvent = (subjects: number, by: object = {}) => ({
  type: 'subjects_imported',
  subjects,
  ...by,
});

describe('an import of subjects', () => {
  // @shows AS-41.6, AS-41.7
  test('stores the sub of each person once, and records one event', async () => {
    const [one, other] = [record(), record()];
    expect(await give([one])).toStrictEqual({ written: true, subjects: [imported(1)] });
    expect(servers.events.splice(0)).toStrictEqual([withEvent(1)]);
    expect(await give([one, other], { by: 'console' })).toStrictEqual({
      written: true,
      subjects: [unchanged(1), imported(2)],
    });
    expect(servers.events.splice(0)).toStrictEqual([withEvent(1, { by: 'console' })]);
    expect(await give([one, other])).toStrictEqual({
      written: false,
      subjects: [unchanged(1), unchanged(2)],
    });
    expect(servers.events).toEqual([]);
  });

  // @shows AS-41.8
  test('writes nothing in a dry run, and returns the same report', async () => {
    const one = record();
    expect(await give([one], { dryRun: true })).toStrictEqual({
      written: false,
      subjects: [imported(1)],
    });
    expect(servers.events).toEqual([]);
    expect(await give([one])).toMatchObject({ written: true });
  });

  test('reports progress for checked records, then for written ones', async () => {
    const records = [record(), record(), record()];
    const counts: number[] = [];
    await give(records, { report: (count: number) => void counts.push(count) });
    expect(counts).toEqual([1, 2, 3, 1, 2, 3]);
  });

  // @shows AS-41.7
  test('writes nothing if one record is refused for any reason', async () => {
    const [kept, sound] = [record(), record()];
    await give([kept]);
    for (const [wrong, problem] of [
      [{ ...kept, sub: 'another' }, 'the person already has another sub, which cannot change'],
      [record({ sub: kept.sub }), 'another person already has this sub'],
      [record({ id: 'stranger' }), 'the application has no account with this provider and id'],
      [{ ...record(), id: sound.id }, 'an earlier record has the same person'],
      [record({ sub: sound.sub }), 'an earlier record has the same sub'],
    ] as const) {
      expect(await give([sound, wrong])).toStrictEqual({
        written: false,
        subjects: [imported(1), refused(2, problem)],
      });
    }
    const otherProvider = { ...sound, provider: 'staff', sub: `${sound.sub}-2` };
    expect(await give([sound, otherProvider])).toMatchObject({ written: true });
  });

  // @shows AS-41.7
  test('skips a person who gets a different sub during the import, and stores the others', async () => {
    const [early, late] = [record(), record()];
    let isFirst = true;
    const isKnown = async ({ id }: PersonReference) => {
      if (id === late.id && isFirst) {
        isFirst = false;
        await give([{ ...early, sub: `${early.sub}-2` }]);
        servers.events.splice(0);
      }
      return true;
    };
    const { importing } = servers.serverWith({ isKnown });
    expect(await importing.subjects([early, late])).toStrictEqual({
      written: true,
      subjects: [
        refused(
          1,
          'the person or the sub was stored during the import, so this record was skipped; run ' +
            'the command again',
        ),
        imported(2),
      ],
    });
    expect(servers.events).toStrictEqual([withEvent(1)]);
    expect(await give([early])).toStrictEqual({
      written: false,
      subjects: [refused(1, 'the person already has another sub, which cannot change')],
    });
  });

  // @shows AS-41.7
  test('records the subjects that it has stored if it is interrupted', async () => {
    const records = [record(), record(), record()];
    const interruption = new Error('the report failed');
    let calls = 0;
    const report = () => {
      calls += 1;
      if (calls === records.length + 2) throw interruption;
    };
    await expect(give(records, { report, by: 'console' })).rejects.toBe(interruption);
    expect(servers.events.splice(0)).toStrictEqual([withEvent(2, { by: 'console' })]);
    expect(await give(records)).toStrictEqual({
      written: true,
      subjects: [unchanged(1), unchanged(2), imported(3)],
    });
  });

  // @shows AS-41.7
  test('records an import that stores nothing, but only if it reaches its end', async () => {
    const [early, late] = [record(), record()];
    const importing = () => {
      let isFirst = true;
      const isKnown = async () => {
        if (isFirst) await give([{ ...early, sub: `auth|${crypto.randomUUID()}` }]);
        isFirst = false;
        servers.events.splice(0);
        return true;
      };
      return servers.serverWith({ isKnown }).importing;
    };
    expect(await importing().subjects([early])).toMatchObject({ written: true });
    expect(servers.events.splice(0)).toStrictEqual([withEvent(0)]);
    early.id = record().id;
    early.sub = record().sub;
    let calls = 0;
    const report = () => {
      calls += 1;
      if (calls === 3) throw new Error('the report failed');
    };
    const interrupted = importing().subjects([early, late], { report });
    await expect(interrupted).rejects.toThrow('the report failed');
    expect(servers.events).toEqual([]);
  });

  test('fails with the error of the host if an account cannot be loaded', async () => {
    const isKnown = async () => {
      throw new Error('the accounts are gone');
    };
    const { importing } = servers.serverWith({ isKnown });
    await expect(importing.subjects([record()])).rejects.toThrow('the accounts are gone');
  });

  // @shows AS-41.7
  test.each([
    ['of one character', () => crypto.randomUUID().slice(0, 1)],
    ['of 255 characters', () => crypto.randomUUID().padEnd(255, '~')],
    ['with every kind of visible character', () => `!~${crypto.randomUUID()}`],
  ])('accepts a sub %s', async (_, sub) => {
    expect(await give([record({ sub: sub() })], { dryRun: true })).toStrictEqual({
      written: false,
      subjects: [imported(1)],
    });
  });

  const NO_SUB = 'sub must have 1 to 255 printable ASCII characters without spaces';
  const NO_OBJECT = 'the record is not a JSON object';
  // @shows AS-41.7
  test.each([
    ['an empty sub', record({ sub: '' }), NO_SUB],
    ['a sub that begins with a space', record({ sub: ' a' }), NO_SUB],
    ['a sub that ends with a space', record({ sub: 'a ' }), NO_SUB],
    ['a sub outside ASCII', record({ sub: 'é' }), NO_SUB],
    ['a sub of 256 characters', record({ sub: 'x'.repeat(256) }), NO_SUB],
    ['a sub that is a number', record({ sub: 42 }), '"sub" must be a string'],
    ['a missing sub', { provider: 'accounts', id: 'known' }, '"sub" must be a string'],
    ['an id that is a number', record({ id: 42 }), '"id" must be a string'],
    ['no provider', record({ provider: null }), '"provider" must be a string'],
    [
      'unknown fields',
      record({ email: 'a', name: 'b' }),
      'unknown fields: "email", "name"; remove them',
    ],
    ['null', null, NO_OBJECT],
    ['no value', undefined, NO_OBJECT],
    ['a text', 'sub', NO_OBJECT],
    ['a number', 7, NO_OBJECT],
    ['a list', [], NO_OBJECT],
  ])('refuses %s', async (_, given, problem) => {
    expect(await give([given])).toStrictEqual({ written: false, subjects: [refused(1, problem)] });
  });

  // @shows AS-41.7
  test('refuses a person without an id', async () => {
    const { written, subjects } = await give([record({ id: '' })]);
    expect([written, subjects[0]?.outcome]).toEqual([false, 'refused']);
    expect(subjects[0]?.problem).toContain('must not be empty');
  });

  test('accepts at most 100,000 records', async () => {
    const one = record();
    const records = Array.from({ length: 100_000 }, () => one);
    const { written, subjects } = await give(records);
    expect([written, subjects.length, subjects[0]?.outcome]).toEqual([false, 100_000, 'imported']);
    await expect(give([...records, one])).rejects.toThrow(
      'The file has 100001 subjects; at most 100000 can be imported at once. Split the file',
    );
  });
});
