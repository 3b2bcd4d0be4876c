import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { BodyTakenError, MOST_DISCARDED } from '../../http/body.ts';
import { readRequestLine } from '../../http/request-line.ts';
import { getRequestId } from '../../http/request-id.ts';
import { answerDispatched, answerOf, headersOnly, incomingOf, requestFrom, send } from './mount.ts';

const ORIGIN = 'https://app.example';

interface Given {
  readonly method?: string;
  readonly url?: string;
  readonly originalUrl?: unknown;
  readonly rawHeaders?: readonly string[];
  readonly headers?: IncomingMessage['headers'];
  readonly httpVersionMajor?: number;
  /** The chunks of the body. */
  readonly body?: Readable;
}

/** Creates Node's request from these members. */
function message({ body = Readable.from([]), ...given }: Given = {}): IncomingMessage {
  const members = { method: 'POST', rawHeaders: [], headers: {}, httpVersionMajor: 1, ...given };
  return Object.assign(body, members) as unknown as IncomingMessage;
}

/** Creates Node's response in this state. */
function response(state: object = {}) {
  const members = { closed: false, destroyed: false, writableEnded: false, ...state };
  return Object.assign(new EventEmitter(), members) as unknown as ServerResponse;
}

function request(given: Given, parsed?: unknown, target = '/oauth/token'): Request {
  const asked = { incoming: message(given), outgoing: response(), target, parsed };
  return requestFrom(asked, ORIGIN);
}

/** Waits at most 1,000 turns of the event loop. */
async function until(isDone: () => boolean): Promise<void> {
  for (let turns = 0; turns < 1000 && !isDone(); turns += 1) await turn();
}

/** A body that a parser has read. */
async function taken(): Promise<Readable> {
  const body = Readable.from(['a']);
  await body.toArray();
  return body;
}

describe('the headers of a Node request', () => {
  test('are all there, without the pseudo-headers of HTTP/2', () => {
    const rawHeaders = [':path', '/', 'X-One', '1', 'Accept', 'a', 'accept', 'b'];
    const { headers } = request({ rawHeaders, headers: { 'x-other': '2' } });
    expect([...headers]).toEqual([
      ['accept', 'a, b'],
      ['x-one', '1'],
    ]);
  });

  test('can be only in an object, as on serverless platforms', () => {
    const headers = { accept: 'a', 'x-list': ['1', '2'], 'x-none': undefined };
    expect([...request({ headers }).headers]).toEqual([
      ['accept', 'a'],
      ['x-list', '1, 2'],
    ]);
  });

  test('have no length if the application replaced the body with another stream', () => {
    const given = { rawHeaders: ['Content-Length', '3'] };
    expect(request(given, Readable.from(['more'])).headers.has('content-length')).toBe(false);
    expect(request(given, 'text').headers.get('content-length')).toBe('3');
    const incoming = message(given);
    const asked = { incoming, outgoing: response(), target: '/', parsed: incoming };
    expect(requestFrom(asked, ORIGIN).headers.get('content-length')).toBe('3');
  });
});

describe('the signal of a Node request', () => {
  const aborted = (state: object, ...events: readonly string[]) => {
    const outgoing = response(state);
    const asked = { incoming: message(), outgoing, target: '/', parsed: undefined };
    const { signal } = requestFrom(asked, ORIGIN);
    for (const event of events) outgoing.emit(event);
    return signal.aborted;
  };
  const sent = { writableEnded: true, writableFinished: true };
  const half = { writableEnded: true, writableFinished: false };

  test.each([
    ['the connection closes', {}, ['close'], true],
    ['the connection closes before everything was sent', half, ['close'], true],
    ['a reset stream closes', { writableEnded: false, writableFinished: true }, ['close'], true],
    ['the connection is closed', { closed: true }, [], true],
    ['the stream of HTTP/2 is closed', { stream: { closed: true } }, [], true],
    ['the response is destroyed, without closed', { closed: undefined, destroyed: true }, [], true],
    ['nothing happens', {}, [], false],
    ['another event happens', {}, ['finish'], false],
    ['the connection closes after the response', sent, ['close'], false],
    ['the connection is closed after the response', { ...sent, closed: true }, [], false],
    [
      'only the response of HTTP/2 is closed',
      { stream: { closed: false }, closed: true },
      [],
      false,
    ],
    ['the response is destroyed, but not closed', { closed: false, destroyed: true }, [], false],
  ])('if %s', (_, state, events, expected) => {
    expect(aborted(state, ...events)).toBe(expected);
  });
});

describe('the body of a Node request', () => {
  const FORM = { rawHeaders: ['Content-Type', 'application/x-www-form-urlencoded'] };
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  test.each<[string, Given, unknown, string]>([
    ['text', FORM, 'a=b', 'a=b'],
    ['bytes', {}, Buffer.from('{}'), '{}'],
    ['JSON', {}, { a: [1, null] }, '{"a":[1,null]}'],
    ['a form', FORM, { a: 'b c', d: '' }, 'a=b+c&d='],
    ['a repeated field', FORM, { a: ['b', 'c'] }, 'a=b&a=c'],
    ['a list of one', FORM, { a: ['b'] }, 'a%5B%5D=b'],
    ['an empty list', FORM, { a: [] }, ''],
    ['a field with parts', FORM, { a: { b: { c: 'd' } } }, 'a%5Bb%5D%5Bc%5D=d'],
    ['a list of objects', FORM, { a: [{ b: 'c' }, { b: 'd' }] }, 'a%5Bb%5D=c&a%5Bb%5D=d'],
    ['values that are no text', FORM, { a: null, b: 7, c: true }, 'a=&b=7&c=true'],
    ['a form that is only text', FORM, 7, ''],
    ['an endless form', FORM, cyclic, ''],
    ['endless JSON', {}, cyclic, ''],
  ])('is the one that a parser has read: %s', async (_, given, parsed, text) => {
    expect(await request({ ...given, body: await taken() }, parsed).text()).toBe(text);
  });

  test('is the stream if nothing has read it', async () => {
    expect(await request({ body: Readable.from([Buffer.from('a'), 'b']) }, {}).text()).toBe('ab');
    const other = Readable.from(['other']);
    expect(await request({ body: await taken() }, other).text()).toBe('other');
  });

  test.each(['GET', 'HEAD'])('does not exist for %s', (method) => {
    expect(request({ method, body: Readable.from(['a']) }).body).toBe(null);
  });

  test.each<[string, Given]>([
    ['a length', { headers: { 'content-length': '1' } }],
    ['a transfer encoding', { headers: { 'transfer-encoding': 'chunked' } }],
    ['both', { headers: { 'content-length': '0', 'transfer-encoding': 'chunked' } }],
    ['HTTP/2 and no length', { httpVersionMajor: 2 }],
  ])('must not be read and then thrown away: %s', async (_, given) => {
    const body = await taken();
    await expect(request({ ...given, body }).text()).rejects.toThrow(BodyTakenError);
    await expect(request({ ...given, body }, await taken()).text()).rejects.toThrow(
      "read from the request before portico() got the request, and is not in the request's body",
    );
  });

  test.each<[string, Given]>([
    ['the length 0', { headers: { 'content-length': '0' } }],
    ['the length 0 in HTTP/2', { headers: { 'content-length': '0' }, httpVersionMajor: 2 }],
    ['no length', {}],
  ])('can be read before if it is empty: %s', async (_, given) => {
    expect(await request({ ...given, body: await taken() }).text()).toBe('');
  });

  test('that breaks off is an error', async () => {
    const body = new Readable({ read() {} });
    const asked = request({ body });
    body.push('a');
    body.destroy(new Error('reset'));
    await expect(asked.text()).rejects.toThrow('reset');
  });

  test('is discarded up to a limit after it was cancelled', async () => {
    let pieces = 0;
    const piece = Buffer.alloc(1024 * 1024);
    const long = new Readable({
      read() {
        pieces += 1;
        this.push(pieces < 40 ? piece : null);
      },
    });
    await request({ body: long }).body?.cancel();
    await until(() => long.destroyed);
    expect(pieces).toBeGreaterThanOrEqual(MOST_DISCARDED / piece.byteLength);
    expect(pieces).toBeLessThan(20);
  });

  test('is discarded when the response has been sent', async () => {
    const body = Readable.from(['a', 'b']);
    const outgoing = response({ writableFinished: true });
    requestFrom({ incoming: message({ body }), outgoing, target: '/', parsed: undefined }, ORIGIN);
    outgoing.emit('close');
    await until(() => body.readableEnded);
    expect(body.destroyed).toBe(true);
  });

  test('is not discarded if the response was not sent', async () => {
    const body = Readable.from(['a', 'b']);
    const outgoing = response({ writableFinished: false });
    requestFrom({ incoming: message({ body }), outgoing, target: '/', parsed: undefined }, ORIGIN);
    outgoing.emit('close');
    await until(() => body.readableEnded);
    expect(body.readableEnded).toBe(false);
  });
});

describe('a response through Node', () => {
  /** Creates Node's response, and stores what it receives. */
  function recording() {
    const chunks: string[] = [];
    const ends: unknown[][] = [];
    const outgoing = new Writable({
      write(chunk: Buffer, _, done) {
        chunks.push(chunk.toString());
        done();
      },
    }).on('error', () => {});
    const end = outgoing.end.bind(outgoing) as (...given: unknown[]) => Writable;
    Object.assign(outgoing, {
      hasHeader: () => false,
      setHeader() {},
      appendHeader() {},
      end(...given: unknown[]) {
        ends.push(given);
        return end(...given);
      },
    });
    return { chunks, ends, outgoing: outgoing as unknown as ServerResponse };
  }

  /** Sends a response, and returns what Node's response received. */
  async function sent(answer: Response, head: boolean) {
    const received = recording();
    await send(answer, received.outgoing, head);
    return received;
  }

  /** An endpoint that answers with an event stream, and the number of its canceled streams. */
  function events() {
    const found = { cancelled: 0 };
    const headers = { 'Content-Type': 'text/event-stream' };
    const handle = async () => {
      const body = new ReadableStream({ cancel: () => void (found.cancelled += 1) });
      return new Response(body, { headers });
    };
    const endpoint = { name: 'events', path: '/events', methods: ['GET'], handle } as const;
    return { endpoint, found };
  }

  test('ends without a body if the response has no body, and for HEAD', async () => {
    expect((await sent(new Response(null, { status: 204 }), false)).ends).toEqual([[]]);
    const cancelled: unknown[] = [];
    const body = new ReadableStream({ cancel: (reason) => void cancelled.push(reason) });
    expect((await sent(new Response(body), true)).ends).toEqual([[]]);
    expect(cancelled).toHaveLength(1);
  });

  test('of an endpoint has no body for HEAD', async () => {
    const { endpoint, found } = events();
    const { ends, outgoing } = recording();
    const incoming = message({ method: 'HEAD' });
    const asked = { incoming, outgoing, target: '/events', parsed: undefined };
    await answerDispatched(endpoint, asked, ORIGIN);
    expect([ends, found.cancelled]).toEqual([[[]], 1]);
  });

  test('of an endpoint is cancelled if the client has left', async () => {
    const { endpoint, found } = events();
    const answer = (state: object) => {
      const incoming = message({ method: 'GET' });
      const asked = { incoming, outgoing: response(state), target: '/events', parsed: undefined };
      return answerOf(endpoint, asked, ORIGIN, incoming);
    };
    expect((await answer({})).body).toBeInstanceOf(ReadableStream);
    expect(found.cancelled).toBe(0);
    const { status, body } = await answer({ closed: true });
    expect([status, body, found.cancelled]).toEqual([200, null, 1]);
  });

  test('is sent in one piece if it is short', async () => {
    const { chunks, ends } = await sent(new Response('text'), false);
    expect([chunks, ends.length]).toEqual([['text'], 1]);
  });

  test('closes the connection if its stream breaks off', async () => {
    let pulls = 0;
    const body = new ReadableStream({
      async pull(controller) {
        await turn();
        pulls += 1;
        if (pulls < 3) controller.enqueue(Buffer.from('piece'));
        else controller.error(new Error('broken'));
      },
    });
    const answer = new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
    const { chunks, outgoing } = await sent(answer, false);
    await until(() => outgoing.destroyed);
    expect([chunks[0], outgoing.destroyed]).toEqual(['piece', true]);
  });
});

test('all requests from one message have the same id', () => {
  const incoming = message();
  const [one, other] = [headersOnly(incoming, ORIGIN), headersOnly(incoming, ORIGIN)];
  expect(getRequestId(one)).toBe(getRequestId(other));
  expect(getRequestId(one)).not.toBe(getRequestId(headersOnly(message(), ORIGIN)));
});

test('a request has the id from its header', () => {
  expect(getRequestId(request({ headers: { 'x-request-id': 'own-id' } }))).toBe('own-id');
});

describe('a request with only headers', () => {
  test('has the line that the client sent', () => {
    const line = (given: Given, target?: string) => {
      const incoming = message({ method: 'PUT', ...given });
      const asked = headersOnly(incoming, ORIGIN, target);
      expect(asked.url).toBe(`${ORIGIN}/`);
      expect(incomingOf(asked)).toBe(incoming);
      return readRequestLine(asked);
    };
    expect(line({ url: '/a?b' })).toEqual({ method: 'PUT', target: '/a?b' });
    expect(line({ url: '/a', originalUrl: '/at/a' })).toEqual({ method: 'PUT', target: '/at/a' });
    expect(line({ url: '/a', originalUrl: 7 })).toEqual({ method: 'PUT', target: '/a' });
    expect(line({ url: 'http://a.example/b' })).toEqual({ method: 'PUT', target: '/b' });
    expect(line({ url: '/a' }, '/given')).toEqual({ method: 'PUT', target: '/given' });
    expect(incomingOf(new Request(ORIGIN))).toBe(null);
  });

  test('keeps a path that a URL parser changes', () => {
    const target = '/a/../b?c';
    expect(readRequestLine(request({}, undefined, target))).toEqual({ method: 'POST', target });
    expect(readRequestLine(request({}, undefined, '/a?c'))).toEqual({
      method: 'POST',
      target: '/a',
    });
  });
});
