// @engines servers: a database server closes unused connections
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { openDatabase, type OpenedDatabase } from 'portico';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';

const server = inject('databaseServer') ?? '';
const isPostgres = server.startsWith('postgres');
const WAYS = [
  'a pool',
  ...(isPostgres
    ? ['a pool with a listener', 'a pool with a later listener']
    : ['a pool of promises']),
  'a pool given twice',
  'a pool opened again',
  'the pool of an application',
  'a pool of our own',
];

let administrator: OpenedDatabase;
beforeAll(() => {
  administrator = openDatabase(server, { directory: '/' });
});
afterAll(() => administrator.close());

/** The application in a separate process. */
function start(way: string) {
  const file = `${import.meta.dirname}/fixtures/idle-pool/run.ts`;
  const child = spawn(process.execPath, [file, way, server], { stdio: 'pipe' });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ended,
    errors: () => errors,
    line: async () => String((await lines.next()).value),
  };
}

async function end(id: string): Promise<void> {
  const [kill, look] = isPostgres
    ? [`SELECT pg_terminate_backend(${id})`, `SELECT 1 FROM pg_stat_activity WHERE pid = ${id}`]
    : [`KILL CONNECTION ${id}`, `SELECT 1 FROM information_schema.processlist WHERE id = ${id}`];
  await administrator.execute(kill);
  await expect.poll(async () => (await administrator.execute(look)).rows).toEqual([]);
}

/** The log has no line, because the application has a listener, or did not pass its pool. */
const UNTOLD = ['a pool of our own', 'a pool with a listener', 'a pool with a later listener'];

/** The log of an application that lost a connection of its `pg` pool. */
const LINE =
  /An idle connection of the application's pool broke: .*\. The pool opens another one; .*\n/g;

// @shows AS-18.25
test.each(WAYS)(
  'a process continues with a new connection if the server ends an idle connection of %s',
  async (way) => {
    const { child, ended, errors, line } = start(way);
    for (let round = 1; round <= 2; round += 1) {
      const id = await line();
      await end(id);
      const isTold = isPostgres && !UNTOLD.includes(way);
      const told = () => (child.exitCode === null ? (errors().match(LINE)?.length ?? 0) : errors());
      await expect.poll(told).toBe(isTold ? round : 0);
      child.stdin.write('again\n');
      expect(errors().match(LINE)?.length ?? 0).toBe(isTold ? round : 0);
    }
    expect(await line()).toMatch(/^\d+$/);
    child.stdin.end();
    expect(await ended).toBe(0);
  },
);
