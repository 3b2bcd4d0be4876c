import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { useResponseOfNode } from '../../../../../test/support/response-of-node.ts';
import { toResponse, type Reply } from '../../endpoints/replies/responses.ts';
import { answerFromReply, answerFromResponse, inOnePiece, type SentAnswer } from './sent-answer.ts';

const TYPE = { 'Content-Type': 'application/json' };
const BYTES = new Uint8Array([1, 2, 3]);

useResponseOfNode();

/** Returns the whole answer with its body as bytes, or the kind of error. */
async function whole(make: () => SentAnswer): Promise<unknown> {
  try {
    const { body, ...others } = make();
    const bytes =
      body === null ? null : new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
    return { ...others, bytes };
  } catch (error) {
    return (error as Error).constructor.name;
  }
}

/** Expects the answer to be that of the Response for the same reply. Returns it. */
async function sameAsResponse(reply: Reply): Promise<unknown> {
  const sent = await whole(() => answerFromReply(reply));
  expect(sent).toEqual(await whole(() => answerFromResponse(toResponse(reply))));
  return sent;
}

describe('a reply that Node sends without a Response', () => {
  test('has its headers in lower case and in order, its cookies and its body', () => {
    const headers = { Vary: 'Origin', 'Content-Type': 'text/html', ETag: '"x"', Age: '' };
    const reply = { status: 201, headers, body: 'text', cookies: ['a=1', 'b=2'] };
    expect(answerFromReply(reply)).toEqual({
      status: 201,
      fields: [
        { name: 'age', value: '', isAdded: false },
        { name: 'content-type', value: 'text/html', isAdded: false },
        { name: 'etag', value: '"x"', isAdded: false },
        { name: 'vary', value: 'Origin', isAdded: true },
      ],
      cookies: ['a=1', 'b=2'],
      body: 'text',
    });
    const { body, cookies } = answerFromReply({ status: 200, headers: {}, body: BYTES });
    expect([body, cookies]).toEqual([BYTES, []]);
  });

  test.each([
    [{}, true],
    [{ 'Access-Control-Allow-Origin': '*' }, false],
  ])('adds its exposed headers only without an allowed origin: %j', (more, isAdded) => {
    const headers = { ...TYPE, 'Access-Control-Expose-Headers': 'X-A', ...more };
    const { fields } = answerFromReply({ status: 200, headers, body: null });
    expect(fields.filter((field) => field.isAdded).map(({ name }) => name)).toEqual(
      isAdded ? ['access-control-expose-headers'] : [],
    );
  });

  test.each<[string, Reply, unknown]>([
    ['a status that is too low', { status: 199, headers: {}, body: null }, 'RangeError'],
    ['a status that is too high', { status: 600, headers: {}, body: null }, 'RangeError'],
    ['a body without content', { status: 204, headers: TYPE, body: 'x' }, 'TypeError'],
    ['a body to reset', { status: 205, headers: TYPE, body: 'x' }, 'TypeError'],
    ['a body that is not modified', { status: 304, headers: TYPE, body: BYTES }, 'TypeError'],
    ['a line break', { status: 200, headers: { 'X-A': 'a\r\nb: c' }, body: null }, 'TypeError'],
    ['a name with a space', { status: 200, headers: { 'X A': 'a' }, body: null }, 'TypeError'],
    ['an empty name', { status: 200, headers: { '': 'a' }, body: null }, 'TypeError'],
    ['a wide character', { status: 200, headers: { 'X-A': '\u2713' }, body: null }, 'TypeError'],
  ])('is refused with %s, as in a Response', async (_, reply, error) => {
    expect(await sameAsResponse(reply)).toBe(error);
  });

  test.each<[string, Reply, object]>([
    ['the highest status', { status: 599, headers: TYPE, body: 'x' }, { status: 599 }],
    ['a fraction', { status: 200.5, headers: TYPE, body: 'x' }, { status: 200 }],
    ['no content', { status: 204, headers: {}, body: null }, { status: 204, bytes: null }],
    [
      'text without a type',
      { status: 200, headers: {}, body: 'x' },
      { fields: [{ value: 'text/plain;charset=UTF-8' }] },
    ],
    [
      'spaces around a value',
      { status: 200, headers: { 'X-A': ' a b ' }, body: null },
      { fields: [{ value: 'a b' }] },
    ],
    [
      'the same name twice',
      { status: 200, headers: { 'x-a': '1', 'X-A': '2' }, body: null },
      { fields: [{ value: '1, 2' }] },
    ],
    [
      'a cookie as a header',
      { status: 200, headers: { 'Set-Cookie': 'a=1' }, body: null, cookies: ['b=2'] },
      { fields: [], cookies: ['a=1', 'b=2'] },
    ],
    [
      'an unusual name',
      { status: 200, headers: { 'x.a': '1' }, body: null },
      { fields: [{ name: 'x.a' }] },
    ],
  ])('is sent like a Response with %s', async (_, reply, sent) => {
    expect(await sameAsResponse(reply)).toMatchObject(sent);
  });

  test('is that of a Response for any reply', async () => {
    const name = fc.constantFrom(
      'X-A',
      'x-a',
      'Content-Type',
      'Vary',
      'set-cookie',
      'X A',
      'b',
      'Z-1',
      'a.b',
    );
    const value = fc.oneof(
      fc.constantFrom('text/plain', '', ' a', 'a ', 'a  b', 'é', '\u2713', 'a\tb', '\n'),
      fc.string(),
    );
    const reply = fc.record({
      status: fc.constantFrom(199, 200, 201, 204, 205, 304, 401, 599, 600, 200.5, Number.NaN),
      headers: fc.dictionary(name, value, { maxKeys: 5 }),
      body: fc.constantFrom(null, '', 'text', BYTES),
      cookies: fc.array(fc.constantFrom('a=1', 'b=2'), { maxLength: 2 }),
    });
    const isSame = async (each: Reply) => {
      const sent = await whole(() => answerFromReply(each));
      expect(sent).toEqual(await whole(() => answerFromResponse(toResponse(each))));
    };
    await fc.assert(fc.asyncProperty(reply, isSame));
  });
});

describe('an answer in one piece', () => {
  const answerOf = (type: string | null) => {
    const headers = new Headers(type === null ? {} : { 'Content-Type': type });
    const body = new ReadableStream({
      start(controller) {
        for (const part of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(part));
        controller.close();
      },
    });
    return answerFromResponse(new Response(body, { headers }));
  };

  test.each(['text/plain', null, 'x/text/event-stream'])(
    'has its whole body in memory: %s',
    async (type) => {
      const { body } = await inOnePiece(answerOf(type));
      expect(new TextDecoder().decode(body as Uint8Array)).toBe('one two');
    },
  );

  test.each(['text/event-stream', 'text/event-stream; charset=utf-8'])(
    'is still a stream if it is of events: %s',
    async (type) => {
      const answer = answerOf(type);
      expect(await inOnePiece(answer)).toBe(answer);
      expect(answer.body).toBeInstanceOf(ReadableStream);
    },
  );

  test('is unchanged if its body is no stream', async () => {
    for (const body of [null, 'text', BYTES]) {
      const answer = answerFromReply({ status: 200, headers: TYPE, body });
      expect(await inOnePiece(answer)).toBe(answer);
    }
  });
});
