import { describe, expect, test } from 'vitest';
import { keptByText } from './kept-by-text.ts';
import { quotedText } from './quoting.ts';
import { isShareable, SharedReads, type WaitingRead } from './shared-reads.ts';
import { readsTogether, runTogether, type Together } from './together.ts';
import { refuseSavepoints, refuseTransactionControl, runsCode } from './transaction-control.ts';

describe('a statement', () => {
  const refused = (refuse: (sql: string) => void, sql: string) => {
    try {
      refuse(sql);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };

  test('that begins or ends a transaction is refused, after spaces and comments too', () => {
    for (const sql of ['BEGIN', 'start transaction', 'COMMIT;', '/* a * b */ --c\n;END', 'ABORT'])
      expect(refused(refuseTransactionControl, sql), sql).toMatch(/begin or end a transaction$/);
    for (const sql of ['ROLLBACK TO s', 'BEGIN NOT ATOMIC SELECT 1; END', 'SELECT 1 /* COMMIT */'])
      expect(refused(refuseTransactionControl, sql), sql).toBeNull();
  });

  test('about savepoints is refused', () => {
    for (const sql of ['SAVEPOINT s', '-- a\nrelease s', 'ROLLBACK TO s'])
      expect(refused(refuseSavepoints, sql), sql).toMatch(/begin or end a savepoint$/);
    for (const sql of ['SELECT 1', 'RELEASED'])
      expect(refused(refuseSavepoints, sql), sql).toBeNull();
  });

  test('can run code of the application', () => {
    for (const sql of ['CALL work()', 'execute s', 'XA END', '/**/BEGIN NOT ATOMIC COMMIT; END'])
      expect(runsCode(sql), sql).toBe(true);
    for (const sql of ['SELECT 1', 'CALLED', 'BEGIN']) expect(runsCode(sql), sql).toBe(false);
  });

  test('has its quotes doubled as a literal', () => {
    expect(quotedText("it's 'so'")).toBe("'it''s ''so'''");
  });
});

describe('a result that is kept for the text of a statement', () => {
  test('is computed once for each of the first 1000 texts', () => {
    let computed = 0;
    const length = keptByText((sql) => {
      computed += 1;
      return sql.length;
    });
    for (let round = 0; round < 2; round += 1)
      for (let text = 0; text < 1001; text += 1)
        expect(length(String(text))).toBe(`${text}`.length);
    expect(computed).toBe(1002);
  });
});

describe('a read', () => {
  test('can be sent with others if it locks and changes nothing', () => {
    const shareable = (sql: string, parameters: readonly unknown[] = []) =>
      isShareable({ sql, parameters: parameters as never[] });
    expect(shareable('SELECT 1')).toBe(true);
    expect(shareable('-- a\n select n FROM things WHERE id = ?', ['a', 1, 2n, null])).toBe(true);
    for (const sql of [
      'UPDATE things SET n = 1',
      'SELECT n FROM things FOR UPDATE',
      'SELECT n INTO other FROM things',
      "SELECT set_config('a', 'b', true)",
    ])
      expect(shareable(sql), sql).toBe(false);
    expect(shareable('SELECT 1', [{}])).toBe(false);
    expect(
      shareable(
        'SELECT 1',
        Array.from({ length: 100 }, () => 1),
      ),
    ).toBe(true);
    expect(
      shareable(
        'SELECT 1',
        Array.from({ length: 101 }, () => 1),
      ),
    ).toBe(false);
  });

  /** Collects batches, and answers each read with its statement. */
  function collect() {
    const batches: string[][] = [];
    const reads = new SharedReads((batch: readonly WaitingRead[]) => {
      batches.push(batch.map(({ sql }) => sql));
      for (const { sql, resolve } of batch) resolve({ rows: [{ sql }], affected: 0 });
    });
    const ask = (sql: string) => reads.execute({ sql, parameters: [] });
    return { batches, ask };
  }

  test('is sent with the others of one turn of the event loop', async () => {
    const { batches, ask } = collect();
    const results = await Promise.all(['a', 'b'].map(ask));
    expect(results.map(({ rows }) => rows)).toEqual([[{ sql: 'a' }], [{ sql: 'b' }]]);
    await ask('c');
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  test('is sent with at most 31 others', async () => {
    const { batches, ask } = collect();
    await Promise.all(Array.from({ length: 70 }, (_, index) => ask(String(index))));
    await new Promise((resolve) => setImmediate(resolve));
    expect(batches.map(({ length }) => length)).toEqual([32, 32, 6]);
    const { batches: full, ask: fill } = collect();
    await Promise.all(Array.from({ length: 32 }, (_, index) => fill(String(index))));
    await new Promise((resolve) => setImmediate(resolve));
    expect(full.map(({ length }) => length)).toEqual([32]);
  });
});

describe('a group of reads', () => {
  test('lasts until its work ends, and is then over for reads that still run', async () => {
    const ended: Together[] = [];
    const gate = Promise.withResolvers<void>();
    let later: Promise<unknown> = gate.promise;
    let inside: Together | null = null;
    expect(readsTogether()).toBeNull();
    const result = await runTogether(
      async () => {
        inside = readsTogether();
        later = gate.promise.then(readsTogether);
        return 'done';
      },
      (together) => ended.push(together),
    );
    gate.resolve();
    expect(result).toBe('done');
    expect(inside).toMatchObject({ beside: null });
    expect(ended).toEqual([inside]);
    expect(await later).toBeNull();
    const failing = runTogether(
      () => Promise.reject(new Error('no')),
      (together) => ended.push(together),
    );
    await expect(failing).rejects.toThrow('no');
    expect(ended).toHaveLength(2);
  });
});
