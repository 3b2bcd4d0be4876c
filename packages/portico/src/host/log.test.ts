import { execFile, spawn } from 'node:child_process';
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { inspect, promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLog, type ClosableLog } from './log.ts';

describe('the log', () => {
  let folder: string;
  let file: string;
  let log: ClosableLog;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'portico-log-'));
    file = path.join(folder, 'logs', 'app.log');
    log = openLog({ file });
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function lines(): Promise<Record<string, unknown>[]> {
    await log.close();
    const text = await readFile(file, 'utf8');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  test('writes nothing after it is closed, and may be closed again', async () => {
    await log.close();
    const other = await open(path.join(folder, 'other'), 'w');
    log.error('too late');
    await log.close();
    await other.writeFile('mine');
    await other.close();
    expect(await readFile(path.join(folder, 'other'), 'utf8')).toBe('mine');
    expect(await readFile(file, 'utf8')).toBe('');
  });

  // @shows AS-18.14
  test('can be read only by its own account, as can the folder that it creates', async () => {
    const modes = await Promise.all([file, path.dirname(file)].map((each) => stat(each)));
    expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['600', '700']);
  });

  test('has one JSON object per line, with the level, the time and the message', async () => {
    log.info('one');
    log.warning('two');
    const [one, two] = await lines();
    expect(one).toMatchObject({
      level: 'info',
      message: 'one',
      time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    expect(two).toMatchObject({ level: 'warning', message: 'two' });
  });

  test('fills placeholders from the context, and leaves unknown ones unchanged', async () => {
    log.info('{who} did {what}', { who: 'Ada' });
    expect((await lines())[0]).toMatchObject({ message: 'Ada did {what}', who: 'Ada' });
  });

  // @shows API-6.4
  test('replaces {exception} by the error with its stack and its causes', async () => {
    const exception = new Error('outer', { cause: new TypeError('inner') });
    log.error('It failed: {exception}', { exception });
    const message = String((await lines())[0]?.['message']);
    expect(message).toMatch(/^It failed: Error: outer\n +at /);
    expect(message).toContain('caused by TypeError: inner');
  });

  test('writes an error in the field err with its stack and its causes', async () => {
    const err = Object.assign(new TypeError('outer', { cause: new Error('inner') }), {
      code: 'E_OUTER',
    });
    log.error('It failed', { err });
    const shown = (await lines())[0]?.['err'] as Record<string, unknown>;
    expect(shown).toMatchObject({ type: 'TypeError', message: 'outer', code: 'E_OUTER' });
    expect(shown['stack']).toMatch(/^TypeError: outer\n +at [^]*\ncaused by Error: inner\n/);
  });

  describe.each([
    'authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'password',
    'secret',
    'client_secret',
    'client_assertion',
    'code',
    'code_verifier',
    'access_token',
    'refresh_token',
    'id_token',
    'id_token_hint',
    'registration_access_token',
    'token',
  ])('does not write the value of %s', (name) => {
    const SECRET = 'abc-secret';
    const circle: Record<string, unknown> = { [name]: SECRET };
    circle['itself'] = circle;
    // @shows AS-19.2
    test.each<[string, unknown]>([
      ['as a field', { [name]: SECRET }],
      ['in upper case', { [name.toUpperCase()]: SECRET }],
      [
        'with a capital first letter',
        { [name.replace(/^./, (first) => first.toUpperCase())]: SECRET },
      ],
      ['with a list as value', { [name]: [{ value: SECRET }] }],
      ['within a field', { value: { [name]: SECRET } }],
      ['within a list', { value: [[{ [name]: SECRET }]] }],
      ['within an object that contains itself', { value: circle }],
      [
        'within an object without a prototype',
        { value: Object.assign(Object.create(null), circle) },
      ],
      [
        'within an instance of a class',
        { value: Object.assign(Object.create({ method: () => null }), circle) },
      ],
      ['within the cause of an error', { value: new Error('x', { cause: circle }) }],
      // The code of an error is not a secret. The code says what went wrong.
      ...(name === 'code'
        ? []
        : ([['in an error', { err: Object.assign(new Error('x'), { [name]: SECRET }) }]] as [
            string,
            unknown,
          ][])),
      ['within an error', { err: Object.assign(new Error('x'), { config: { [name]: SECRET } }) }],
    ])('%s', async (_, context) => {
      for (const level of ['info', 'warning', 'error'] as const)
        log[level](`{value} {exception} {${name}}`, { beside: 'shown', ...(context as object) });
      const written = await lines();
      expect(written).toHaveLength(3);
      for (const line of written) expect(line).toMatchObject({ beside: 'shown' });
      expect(JSON.stringify(written)).not.toContain(SECRET);
      expect(JSON.stringify(written)).toContain('[redacted]');
    });
  });

  test('shows an instance with the name of its class, or in the form that the class defines', async () => {
    class Order {
      readonly id = 7;
    }
    class Hidden {
      readonly value = 'abc-hidden';
      [inspect.custom](): string {
        return '[hidden]';
      }
    }
    log.info('{order} {both}', { order: new Order(), both: { one: new Hidden() } });
    const [line] = await lines();
    expect(line?.['message']).toBe('Order { id: 7 } { one: [hidden] }');
  });

  test('writes a value whose name only resembles that of a secret', async () => {
    const context = {
      token_type: 'Bearer',
      codes: 2,
      client: 'app',
      password_hasher: 'argon2id',
      nested: {},
    };
    log.info('{token_type}', context);
    expect(await lines()).toMatchObject([{ ...context, message: 'Bearer' }]);
  });

  // @shows HOST-1.8
  test('writes nothing below its level', async () => {
    log.debug('quiet');
    log.error('loud');
    expect((await lines()).map(({ message }) => message)).toEqual(['loud']);
  });

  test('shows values without a JSON form as text', async () => {
    const circle: Record<string, unknown> = { name: 'a circle' };
    circle['itself'] = circle;
    log.info('{count} in {circle}', { count: 3n, circle });
    log.info('after it', { count: 4n });
    const [one, two] = await lines();
    expect(one).toMatchObject({
      count: '3',
      circle: expect.stringContaining('a circle') as string,
    });
    expect(two).toMatchObject({ message: 'after it', count: '4' });
  });

  test('writes the rest of a line if a value cannot be shown', async () => {
    const fail = () => {
      throw new Error('not shown');
    };
    const unshowable = [
      { [inspect.custom]: fail, toJSON: fail },
      Object.assign(() => {}, { toJSON: fail }),
      new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail }),
    ];
    for (const value of unshowable) log.info('{value} here', { value, beside: 'shown' });
    log.info('in place of the line', { toJSON: () => ({ level: 'error' }), beside: 'shown' });
    const own = { level: 'info', beside: 'shown' };
    const { length } = unshowable;
    expect(await lines()).toMatchObject([
      ...Array.from({ length }, () => ({
        ...own,
        message: expect.stringMatching(/ here$/) as string,
      })),
      { ...own, message: 'in place of the line' },
    ]);
  });

  test('loses only one line if the disk is full', async () => {
    const full = openLog({ file: '/dev/full' });
    full.error('no room for this');
    await full.close();
    log.error('room for this');
    expect(await lines()).toMatchObject([{ message: 'room for this' }]);
  });

  test('starts a new line after one that was cut off by a full disk', async () => {
    const program = `
      import { truncateSync } from 'node:fs';
      import { openLog } from ${JSON.stringify(import.meta.resolve('./log.ts'))};
      const [, file] = process.argv;
      const log = openLog({ file });
      log.info('x'.repeat(2000));
      log.info('lost');
      // The file has space for a line again.
      truncateSync(file, 100);
      log.info('one');
      log.info('two');
      await log.close();
    `;
    const limited = ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath];
    await promisify(execFile)('sh', [...limited, '--input-type=module', '--eval', program, file]);
    const [broken, ...whole] = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(broken).toHaveLength(100);
    expect(whole.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'one',
      'two',
    ]);
  });

  test('waits once for a reader of standard output that stops reading', async () => {
    // If the log waited for the reader at each line, this test would time out.
    const program = `
      import { openLog } from ${JSON.stringify(import.meta.resolve('./log.ts'))};
      // Node no longer waits when this process writes to the pipe.
      process.stdout.write('');
      const log = openLog({ file: 'stdout' });
      for (let count = 0; count < 200; count += 1) log.info('x'.repeat(100_000));
      process.stderr.write('done');
      process.exit();
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    child.stdout.pause();
    expect(await readText(child.stderr)).toBe('done');
    child.stdout.destroy();
  });

  test('keeps its own level and time, whatever the context contains under these names', async () => {
    log.info('one', { level: 'other', time: 'never', message: 'hidden' });
    expect((await lines())[0]).toMatchObject({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-/) as string,
      message: 'one',
    });
  });

  test('continues the file when it is opened again', async () => {
    log.info('first');
    await log.close();
    log = openLog({ file });
    log.info('second');
    expect(await lines()).toHaveLength(2);
  });
});
