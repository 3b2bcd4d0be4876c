import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { inspect, promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLog, writeLine, type ClosableLog } from './log.ts';

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

  test('closes its file once, but not the streams of the process', async () => {
    const closed: unknown[] = [];
    const { closeSync: own } = fs;
    fs.closeSync = (descriptor) => void closed.push(descriptor);
    syncBuiltinESMExports();
    try {
      for (const stream of ['stdout', 'stderr']) await openLog({ file: stream }).close();
      expect(closed).toEqual([]);
      await log.close();
      await log.close();
      expect(closed).toEqual([expect.any(Number)]);
    } finally {
      fs.closeSync = own;
      syncBuiltinESMExports();
      for (const descriptor of closed) if (Number(descriptor) > 2) closeSync(Number(descriptor));
    }
  });

  // @shows AS-18.14
  test('can be read only by its own account, as can the folder that it creates', async () => {
    const modes = await Promise.all([file, path.dirname(file)].map((each) => stat(each)));
    expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['600', '700']);
  });

  test('has one JSON object per line, with the level, the time and the message', async () => {
    log.info('one');
    log.warning('two');
    expect(await readFile(file, 'utf8')).toMatch(/^\{.*\}\n\{.*\}\n$/);
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
    log.error('It failed', { other: err });
    const [first, second] = await lines();
    expect(second?.['other']).not.toHaveProperty('stack');
    const shown = first?.['err'] as Record<string, unknown>;
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

  // @shows AS-19.2
  test.each([
    ['headers', new Headers({ Authorization: 'Bearer abc-secret', Accept: 'text/html' })],
    ['parameters', new URLSearchParams({ code: 'abc-secret', accept: 'text/html' })],
    [
      'a map',
      new Map([
        ['Cookie', 'abc-secret'],
        ['accept', 'text/html'],
      ]),
    ],
    [
      'a map of maps',
      new Map([
        [
          7,
          new Map([
            ['token', 'abc-secret'],
            ['accept', 'text/html'],
          ]),
        ],
      ]),
    ],
  ])('does not write a secret in %s, but writes the other values', async (_, value) => {
    log.info('{value} {list}', { value, list: [value] });
    const [line] = await lines();
    expect(JSON.stringify(line)).not.toContain('abc-secret');
    expect(line?.['message']).toContain('[redacted]');
    expect(line?.['message']).toContain("'text/html'");
    expect(line?.['message']).toContain(value.constructor.name);
  });

  // @shows AS-19.2
  test('does not write the secrets in a set, in the data of a form or in the query of a URL', async () => {
    const form = new FormData();
    form.set('client_secret', 'abc-secret');
    form.set('scope', 'openid');
    const set = new Set([{ password: 'abc-secret', name: 'Ada' }]);
    log.info('{form} {set} {url}', {
      form,
      set,
      url: new URL('https://a.example/x?code=abc-secret'),
    });
    const message = (await lines())[0]?.['message'];
    expect(message).not.toContain('abc-secret');
    for (const shown of ['openid', 'Ada']) expect(message).toContain(shown);
    expect(message).toMatch(/ 'https:\/\/a\.example\/x'$/);
  });

  // @shows AS-19.2
  test('does not write the secrets in the headers or the query of a request or response', async () => {
    const headers = { Authorization: 'Bearer abc-secret', 'Set-Cookie': 'abc-secret' };
    const url = 'https://app.example/a?login=abc-secret';
    const request = new Request(url, { headers, method: 'PUT' });
    const response = new Response('', { headers, status: 201 });
    log.info('{request} {all}', { request, all: [response] });
    const [line] = await lines();
    expect(JSON.stringify(line)).not.toContain('abc-secret');
    for (const shown of ['PUT', 'https://app.example/a', '201', '[redacted]'])
      expect(line?.['message']).toContain(shown);
  });

  // @shows AS-19.2
  test('does not write the secrets in the fields of a nested error, but writes its stack', async () => {
    const refused = Object.assign(new Error('refused'), {
      code: 'ECONNREFUSED',
      token: 'abc-secret',
      options: { headers: { Authorization: 'abc-secret' } },
    });
    log.info('{list} {failed}', {
      list: [refused],
      failed: { all: new AggregateError([refused]) },
    });
    const [line] = await lines();
    expect(JSON.stringify(line)).not.toContain('abc-secret');
    for (const shown of ['Error: refused', 'log.test.ts', "code: 'ECONNREFUSED'", '[redacted]'])
      expect(line?.['message']).toContain(shown);
  });

  test('shows an error in a list with its fields and errors, if it has any', async () => {
    const failed = (text: string, fields: object = {}) =>
      Object.defineProperty(Object.assign(new Error(text), fields), 'stack', { value: text });
    const all = new AggregateError([failed('inner')]);
    Object.defineProperty(all, 'stack', { value: 'several' });
    log.info('{plain} {one} {all}', {
      plain: [failed('plain')],
      one: [failed('one', { why: 7 })],
      all: [all],
    });
    log.info('{alone}', { alone: failed('alone') });
    expect((await lines()).map(({ message }) => message)).toEqual([
      '[ plain ] [ one { why: 7 } ] [ several { errors: [ inner ] } ]',
      'alone',
    ]);
  });

  test('shows values that contain themselves, and null', async () => {
    const list: unknown[] = ['a list'];
    list.push(list);
    const map = new Map<string, unknown>([['name', 'a map']]);
    map.set('itself', map);
    const set = new Set<unknown>(['a set']);
    set.add(set);
    const error: Error & { itself?: Error } = new Error('an error');
    error.itself = error;
    log.info('{list} {map} {set} {errors} {nothing} {more}', {
      list,
      map,
      set,
      errors: [error],
      nothing: null,
      more: [null],
    });
    const message = String((await lines())[0]?.['message']);
    for (const shown of ['a list', 'a map', 'a set', 'an error']) expect(message).toContain(shown);
    expect(message).toMatch(/ null \[ null \]$/);
    expect(message).not.toContain('cannot be shown');
  });

  test('writes a map whose keys cannot become text', async () => {
    log.info('{map}', { map: new Map([[Object.create(null), 'seen']]) });
    expect((await lines())[0]?.['message']).toContain('seen');
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

  // @shows HOST-1.8
  test.each([
    ['debug', ['debug', 'info', 'warning', 'error']],
    ['info', ['info', 'warning', 'error']],
    ['warning', ['warning', 'error']],
    ['error', ['error']],
    ['unknown', ['info', 'warning', 'error']],
  ])('with the level %s writes only lines of %j', async (level, written) => {
    await log.close();
    log = openLog({ file, level });
    for (const each of ['debug', 'info', 'warning', 'error'] as const)
      log[each](`{name}`, { name: each });
    expect(await lines()).toMatchObject(
      written.map((each) => ({ level: each, message: each, pid: process.pid })),
    );
  });

  test('shows the code of an error within an error, but no other code', async () => {
    const inner = Object.assign(new Error('inner'), { code: 'ECONNREFUSED' });
    log.info('1', { err: Object.assign(new Error('outer'), { inner }), list: [inner] });
    log.info('2', { err: { code: 'abc-secret' }, value: { code: 'abc-secret' } });
    const written = await lines();
    expect(written).toMatchObject([
      { err: { inner: { code: 'ECONNREFUSED' } }, list: [{ code: 'ECONNREFUSED' }] },
      { err: { code: '[redacted]' }, value: { code: '[redacted]' } },
    ]);
  });

  test('shows bytes and dates as such, and only four levels of an object', async () => {
    const deep = { a: { b: { c: { d: { e: { f: 'too deep' } } } } } };
    const more = new Uint8Array([3]);
    const context = { bytes: Buffer.from([1, 2]), more, date: new Date(0), deep, counts: [1n] };
    log.info('{bytes} {more} {date} {deep} {counts} {constructor}', context);
    const [line] = await lines();
    expect(line).toMatchObject({ counts: ['1'] });
    expect(String(line?.['message']).replaceAll(/\s+/g, ' ')).toBe(
      '<Buffer 01 02> Uint8Array(1) [ 3 ] 1970-01-01T00:00:00.000Z ' +
        '{ a: { b: { c: { d: { e: [Object] } } } } } [ 1n ] {constructor}',
    );
  });

  test('shows six errors at most, and the name of an error that has no stack', async () => {
    const chain = (length: number): Error =>
      Object.assign(new Error(`error ${length}`), {
        stack: undefined,
        ...(length === 1 ? {} : { cause: chain(length - 1) }),
      });
    const circle = Object.assign(new TypeError('in a circle'), { stack: undefined });
    circle.cause = circle;
    log.error('{exception}', { exception: chain(9) });
    log.error('{exception}', { exception: circle });
    log.error('{exception}', { exception: Object.assign(chain(1), { cause: { why: 7 } }) });
    expect((await lines()).map(({ message }) => String(message).split('\ncaused by '))).toEqual([
      ['Error: error 9', ...[8, 7, 6, 5, 4].map((number) => `Error: error ${number}`)],
      Array.from({ length: 6 }, () => 'TypeError: in a circle'),
      ['Error: error 1', '{ why: 7 }'],
    ]);
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
    const written = await lines();
    expect(written.map(({ message }) => message)).toEqual([
      '[cannot be shown] here',
      '[Function (anonymous)] { toJSON: [Function: fail] } here',
      '[cannot be shown] here',
      'in place of the line',
    ]);
    expect(written).toMatchObject([
      ...Array.from({ length }, () => own),
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

  test('starts a new line after one that was cut off because nothing reads the pipe', async () => {
    const pipe = path.join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(200_000);
    const read = () => bytes.toString('utf8', 0, readSync(descriptor, bytes));
    const before = { brokeOff: false, wasStuck: true };
    try {
      const write = (line: string) => writeLine(descriptor, line, before);
      expect(() => write('x'.repeat(100_000))).toThrow('EAGAIN');
      expect(before).toEqual({ brokeOff: true, wasStuck: true });
      expect(() => write('lost')).toThrow('EAGAIN');
      expect(read()).toMatch(/^x+$/);
      write('one');
      write('two');
      expect(read()).toBe('\none\ntwo\n');
      expect(before).toEqual({ brokeOff: false, wasStuck: false });
    } finally {
      closeSync(descriptor);
    }
    expect(() => writeLine(-1, 'lost', before)).toThrow('out of range');
    expect(before).toEqual({ brokeOff: false, wasStuck: false });
  });

  test('waits for a reader that is slower', async () => {
    const pipe = path.join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const reading = 'echo ready; read go; while read line; do :; done < "$0"';
    const reader = spawn('sh', ['-c', reading, pipe]);
    const state = { brokeOff: false, wasStuck: false };
    try {
      await once(reader.stdout, 'data');
      // Fill the pipe. The reader empties it while this process waits in the next call.
      const bytes = Buffer.alloc(1000, '\n');
      expect(() => {
        for (;;) writeSync(descriptor, bytes);
      }).toThrow('EAGAIN');
      reader.stdin.write('go\n');
      writeLine(descriptor, 'x'.repeat(2000), state);
      expect(state).toEqual({ brokeOff: false, wasStuck: false });
    } finally {
      closeSync(descriptor);
      reader.kill();
    }
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
