import type { IncomingMessage } from 'node:http';
import type { Log, LogContext } from '@portico/sql';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { madeOfText, readBodyText } from './body-text.ts';
import { BodyTakenError, MOST_DISCARDED, readBytes, readFormText, readText } from './body.ts';
import { currentCaller, runAsCaller } from './caller.ts';
import { equalInConstantTime } from './constant-time.ts';
import {
  currentContext,
  currentRequestId,
  runForNoRequest,
  runInContext,
  withCurrentRequestId,
} from './context.ts';
import { inTime } from './in-time.ts';
import { isLoopback } from './loopback.ts';
import { Note } from './note.ts';
import { RecentMap } from './recent-map.ts';
import { findSource, messages, noteRequestLine, readRequestLine } from './request-line.ts';
import { isLiteralTarget, readPath, toOriginForm } from './request-target.ts';

type Given = ConstructorParameters<typeof Request>[1] & { readonly duplex?: 'half' };
type Chunks = readonly (string | Uint8Array)[];

function sent(body: Chunks | string | null, declared?: string): Request {
  const stream =
    typeof body === 'string' || body === null
      ? body
      : (Readable.toWeb(Readable.from(body.map(toBytes))) as ReadableStream);
  return new Request('https://app.example/', {
    method: 'POST',
    body: stream,
    duplex: 'half',
    headers: declared === undefined ? {} : { 'Content-Length': declared },
  } as Given);
}

function toBytes(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** Reads a body with each function. */
async function readings(of: () => Request, limit: number): Promise<readonly unknown[]> {
  const failed = (failure: string, cause?: unknown) =>
    cause === undefined ? { failure } : { failure, cause };
  const bytes = await readBytes(of(), limit, failed);
  return [
    Buffer.isBuffer(bytes) ? bytes.toString('latin1') : bytes,
    await readText(of(), limit, failed),
    await readFormText(of(), limit, failed),
  ];
}

describe('the body of a request', () => {
  test.each([
    ['with its length', () => sent(['abc', 'de'], '5')],
    ['with the limit as its length', () => sent(['abcde'], '6')],
    ['without its length', () => sent(['abc', 'de'])],
    ['with a length that is too large', () => sent(['abc', 'de'], '7')],
    ['with a length that is not a number', () => sent(['abcde'], 'a')],
  ])('%s is read up to the limit', async (_, of) => {
    expect(await readings(of, 6)).toEqual(['abcde', 'abcde', 'abcde']);
    expect(await readings(of, 5)).toEqual(['abcde', 'abcde', 'abcde']);
    const tooLarge = { failure: 'too large' };
    expect(await readings(of, 4)).toEqual([tooLarge, tooLarge, tooLarge]);
  });

  test('that is longer than declared is too large', async () => {
    const tooLarge = { failure: 'too large' };
    expect(await readings(() => sent(['abcde'], '2'), 4)).toEqual([tooLarge, tooLarge, tooLarge]);
  });

  test('is measured in bytes', async () => {
    for (const declared of ['3', undefined]) {
      expect(await readings(() => sent(['\u20ac'], declared), 3)).toEqual([
        '\u00e2\u0082\u00ac',
        '\u20ac',
        '\u20ac',
      ]);
    }
    expect(await readFormText(sent(['\u20ac'], '2'), 2, String)).toBe('too large');
  });

  test('may be missing', async () => {
    for (const declared of ['0', undefined])
      expect(await readings(() => sent(null, declared), 3)).toEqual(['', '', '']);
  });

  test.each(['1', undefined])('must be UTF-8 if it is text (length %s)', async (declared) => {
    const wrong = { failure: 'not UTF-8' };
    const of = () => sent([Uint8Array.of(0xff)], declared);
    expect(await readings(of, 3)).toEqual(['\u00ff', wrong, wrong]);
  });

  test('of a form contains no U+FFFD, which is written in percent-encoded form', async () => {
    expect(await readFormText(sent(['\u{FFFD}'], '3'), 3, String)).toBe('not UTF-8');
    expect(await readFormText(sent(['%EF%BF%BD'], '9'), 9, String)).toBe('%EF%BF%BD');
  });

  test.each(['100', undefined])(
    'is not read to its end if it is too large (%s)',
    async (length) => {
      for (const read of [readBytes, readText, readFormText]) {
        let taken = 0;
        const body = new ReadableStream<Uint8Array>(
          {
            pull(controller) {
              taken += 1;
              if (taken > 100) controller.close();
              else controller.enqueue(Uint8Array.of(1));
            },
          },
          { highWaterMark: 0 },
        );
        const headers = length === undefined ? {} : { 'Content-Length': length };
        const given: Given = { method: 'POST', body, duplex: 'half', headers };
        expect(await read(new Request('https://app.example/', given), 3, String)).toBe('too large');
        expect(taken).toBeLessThan(10);
      }
    },
  );

  test.each(['3', undefined])('can break off (length %s)', async (declared) => {
    const cause = new Error('reset');
    const of = () => {
      const request = sent(null, declared);
      const broken = new ReadableStream({ pull: (controller) => controller.error(cause) });
      return new Request(request, { body: broken, duplex: 'half' } as Given);
    };
    const broke = { failure: 'broke off', cause };
    expect(await readings(of, 3)).toEqual([broke, broke, broke]);
  });

  test.each(['3', undefined])('must be unread, or that is said (length %s)', async (declared) => {
    for (const read of [readBytes, readText, readFormText]) {
      const request = sent(['abc'], declared);
      await request.text();
      const reading = read(request, 3, String);
      await expect(reading).rejects.toThrow(BodyTakenError);
      await expect(reading).rejects.toThrow('The body was read from the request before portico()');
      await expect(reading).rejects.toMatchObject({ name: 'BodyTakenError' });
    }
  });

  test.each(['3', undefined])('that a mount cannot find is no broken body (%s)', async (length) => {
    const taken = new BodyTakenError('request.body', 'request.rawBody');
    const of = () => {
      const found = new ReadableStream({ pull: (controller) => controller.error(taken) });
      const headers = length === undefined ? {} : { 'Content-Length': length };
      const given: Given = { method: 'POST', body: found, duplex: 'half', headers };
      return new Request('https://app.example/', given);
    };
    for (const read of [readBytes, readText, readFormText])
      await expect(read(of(), 3, String)).rejects.toBe(taken);
  });

  test('that is too large is discarded, up to a limit', async () => {
    const piece = new Uint8Array(1024 * 1024);
    /** Sends so many pieces. Returns how many of them were taken, and whether it was refused. */
    async function taken(pieces: number) {
      let [count, refused] = [0, false];
      const body = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (count === pieces) return controller.close();
            count += 1;
            controller.enqueue(piece);
          },
          cancel: () => void (refused = true),
        },
        { highWaterMark: 0 },
      );
      const request = new Request('https://app.example/', {
        method: 'POST',
        body,
        duplex: 'half',
      } as Given);
      expect(await readBytes(request, 1, String)).toBe('too large');
      for (let turns = 0; turns < 50; turns += 1) await turn();
      return { count, refused };
    }
    expect(await taken(3)).toEqual({ count: 3, refused: false });
    expect(MOST_DISCARDED).toBe(16 * piece.byteLength);
    // The first piece was read before the rest is discarded.
    expect(await taken(40)).toEqual({ count: 18, refused: true });
  });
});

test('a response can keep its text', () => {
  const response = new Response('a');
  expect(readBodyText(response)).toBe(null);
  expect(madeOfText(response, 'text')).toBe(response);
  expect(readBodyText(response)).toBe('text');
});

test('a note of one kind is not a note of another', () => {
  const [one, other] = [new Note<string>('one'), new Note<string>('one')];
  const noted = {};
  one.set(noted, 'a');
  one.set(noted, 'b');
  expect([one.of(noted), other.of(noted), one.of({})]).toEqual(['b', undefined, undefined]);
});

test('slow hashes of a caller are in its turn', async () => {
  expect(currentCaller()).toBe(null);
  expect(await runAsCaller('192.0.2.0', async () => currentCaller())).toBe('192.0.2.0');
  expect(await runAsCaller(null, async () => currentCaller())).toBe(null);
});

test('two strings are equal if they have the same bytes', () => {
  expect(equalInConstantTime('secret', 'secret')).toBe(true);
  expect(equalInConstantTime('', '')).toBe(true);
  for (const other of ['secreT', 'secret ', 'secre', '', '\u00e9ecret'])
    expect(equalInConstantTime('secret', other)).toBe(false);
});

describe('the context of a request', () => {
  const now = () => [currentContext(), currentRequestId()];

  test('is missing outside a request', () => {
    expect(now()).toEqual([undefined, null]);
    expect(runInContext(undefined, null, now)).toEqual([undefined, null]);
    expect(runInContext(undefined, 'id', now)).toEqual([undefined, 'id']);
    expect(runInContext('context', null, now)).toEqual(['context', null]);
    expect(runInContext('context', () => 'made', now)).toEqual(['context', 'made']);
  });

  test('stays that of the enclosing request, except what is given', () => {
    runInContext('outer', 'outer id', () => {
      const ignored = () => 'made';
      expect(runInContext(undefined, null, now)).toEqual(['outer', 'outer id']);
      expect(runInContext('inner', null, now)).toEqual(['inner', 'outer id']);
      expect(runInContext(undefined, 'inner id', now)).toEqual(['outer', 'inner id']);
      expect(runInContext('inner', 'inner id', now)).toEqual(['inner', 'inner id']);
      expect(runInContext('inner', ignored, now)).toEqual(['inner', 'outer id']);
      expect(runInContext(undefined, ignored, now)).toEqual(['outer', 'outer id']);
      expect(runForNoRequest(now)).toEqual([undefined, null]);
      expect(now()).toEqual(['outer', 'outer id']);
    });
  });

  test('adds the id to each line of the log without one', () => {
    const lines: unknown[] = [];
    const write = (level: string) => (message: string, context?: LogContext) =>
      void lines.push([level, message, context]);
    const levels = ['debug', 'info', 'warning', 'error'] as const;
    const log = withCurrentRequestId(
      Object.fromEntries(levels.map((level) => [level, write(level)])) as unknown as Log,
    );
    for (const level of levels) {
      log[level]('outside', { a: 1 });
      runInContext(undefined, 'id', () => {
        log[level]('without');
        log[level]('with', { a: 1 });
        log[level]('own', { requestId: 'own' });
        log[level]('odd', { requestId: 7 });
      });
    }
    expect(lines).toEqual(
      levels.flatMap((level) => [
        [level, 'outside', { a: 1 }],
        [level, 'without', { requestId: 'id' }],
        [level, 'with', { a: 1, requestId: 'id' }],
        [level, 'own', { requestId: 'own' }],
        [level, 'odd', { requestId: 'id' }],
      ]),
    );
  });

  test('continues if the log fails', async () => {
    const unhandled: unknown[] = [];
    const collect = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', collect);
    const log = withCurrentRequestId({
      info: () => Promise.reject(new Error('later')),
      error: () => {
        throw new Error('now');
      },
    } as unknown as Log);
    log.info('a line');
    log.error('a line');
    await turn();
    process.off('unhandledRejection', collect);
    expect(unhandled).toEqual([]);
  });
});

describe('work with a time limit', () => {
  test('gives its result or its error if it ends in time', async () => {
    const late = () => new Error('late');
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    expect(await inTime(Promise.resolve('done'), 1000, late)).toBe('done');
    await expect(inTime(Promise.reject(new Error('broken')), 1000, late)).rejects.toThrow('broken');
    // No timer keeps the process running.
    expect(timers()).toBe(before);
  });

  test('ends with an error if it is late', async () => {
    await expect(inTime(new Promise(() => {}), 1, () => new Error('late'))).rejects.toThrow('late');
  });
});

test.each([
  ['http://localhost:8080/', true],
  ['http://127.0.0.1/', true],
  ['http://[::1]:1/', true],
  ['http://127.0.0.2/', false],
  ['http://localhost.example/', false],
  ['http://[::2]/', false],
])('%s is a URL of this machine: %s', (url, here) => {
  expect(isLoopback(new URL(url))).toBe(here);
});

test('a full map forgets the entry that was not used for the longest time', () => {
  const map = new RecentMap<string, number>(2);
  expect(map.put('a', 1)).toBe(1);
  map.put('b', 2);
  expect([...map]).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
  map.put('a', 3);
  map.put('c', 4);
  expect([...map.keys()]).toEqual(['a', 'c']);
  expect([map.touch('a'), map.touch('b'), map.get('c')]).toEqual([3, undefined, 4]);
  expect(map.has('b')).toBe(false);
  map.put('d', 5);
  expect([...map.keys()]).toEqual(['a', 'd']);
  const none = new RecentMap<string, number>(Number.NaN);
  none.put('a', 1);
  expect(none.size).toBe(0);
});

describe('the line of a request', () => {
  test('has the method and the path, or what was recorded', () => {
    const request = new Request('https://app.example/a?b=c', { method: 'PUT' });
    expect(readRequestLine(request)).toEqual({ method: 'PUT', target: '/a' });
    noteRequestLine(request, { method: 'POST', target: '/whole/a?b' });
    expect(readRequestLine(request)).toEqual({ method: 'POST', target: '/whole/a?b' });
  });

  test('is of the Node message from which the Request was created', () => {
    const request = new Request('https://app.example/');
    expect(findSource(request)).toBe(request);
    const message = {} as IncomingMessage;
    messages.set(request, message);
    expect(findSource(request)).toBe(message);
  });
});

describe('the target of a request', () => {
  test.each([
    '/',
    '/a/b.c/..d/e../...',
    '/a?b=/../\\#',
    '?a',
    '*',
    '',
    '/%2e%2ea',
    'https://app.example/a',
    'https://app.example?a=/./',
    'https://app.example',
    '/a:/b',
  ])('is literal: %j', (target) => {
    expect(isLiteralTarget(target)).toBe(true);
  });

  test.each([
    '/a\\b',
    '/a#b',
    '/.',
    '/..',
    '/../',
    '/a/./b',
    '/a/%2E%2e/b',
    '/a/.%2e',
    '/%2e',
    '/..?a',
    'a',
    '*a',
    '**',
    'app.example:443',
    'https:///a',
    'https://user@app.example/a',
    'https://app.example\\a',
    'https:/a',
    'a/https://app.example/a',
    'https://app.example/../a',
    'a?/',
    'a*',
  ])('is not literal: %j', (target) => {
    expect(isLiteralTarget(target)).toBe(false);
  });

  test.each([
    ['/a?b', '/a?b'],
    ['https://app.example/a?b', '/a?b'],
    ['HTTP://app-1.example:/a', '/a'],
    ['http://APP.example:8080/a', '/a'],
    ['http://[::1]:8080/a', '/a'],
    ['http://[2001:DB8::7f.1]/a', '/a'],
    ['/http://app.example/a', '/http://app.example/a'],
    ['ftp://app.example/a', 'ftp://app.example/a'],
    ['http://app.example', 'http://app.example'],
    ['http://app.example?a', 'http://app.example?a'],
    ['http://user@app.example/a', 'http://user@app.example/a'],
    ['http://app.example:a/b', 'http://app.example:a/b'],
    ['http:///a', 'http:///a'],
    ['http://[]/a', 'http://[]/a'],
    ['http://a;b/c', 'http://a;b/c'],
    ['http://[::1/c', 'http://[::1/c'],
    ['https//app.example/c', 'https//app.example/c'],
  ])('%j has this path and query: %j', (target, form) => {
    expect(toOriginForm(target)).toBe(form);
  });

  test.each([
    ['https://app.example/', '/'],
    ['https://app.example/a/b?c=/d#e', '/a/b'],
    ['https://app.example/a#b?c', '/a'],
    ['https://app.example/?', '/'],
    ['https://app.example/#', '/'],
    ['https://app.example/a//b', '/a//b'],
    ['https:///a', '/a'],
  ])('%j has this path: %j', (url, path) => {
    expect(readPath(url)).toBe(path);
  });
});
