import { describe, expect, test } from 'vitest';
import { readMessages, type Messages, type TakeMessages } from './messages.ts';
import { offeredVersions, type OfferedVersions } from './versions.ts';

const BATCHING = '2025-03-26';
const STATELESS = '2026-07-28';
const VERSIONS = offeredVersions([STATELESS, BATCHING]);

const HEADERS = {
  Accept: 'application/json, text/event-stream',
  'Content-Type': 'application/json',
};

function read(
  body: string | ReadableStream,
  version: string | null = BATCHING,
  { headers: more = {}, versions = VERSIONS, take = () => 0 }: Settings = {},
) {
  const named = version === null ? {} : { 'MCP-Protocol-Version': version };
  const headers = { ...HEADERS, ...named, ...more };
  const asked = { method: 'POST', headers, body, duplex: 'half' as const };
  return readMessages(new Request('https://app.example/mcp', asked), versions, take);
}

interface Settings {
  readonly headers?: Readonly<Record<string, string>>;
  readonly versions?: OfferedVersions;
  readonly take?: TakeMessages;
}

/** Returns the messages of a body that must be accepted. */
async function accepted(body: string, version?: string | null): Promise<Messages> {
  const found = await read(body, version);
  if ('refusal' in found) throw new Error(await found.refusal.text());
  return found.messages;
}

/** Returns the response to a body that must be refused. */
async function refused(
  body: string | ReadableStream,
  ...more: readonly [(string | null)?, Settings?]
) {
  const found = await read(body, ...more);
  if ('messages' in found) throw new Error('The body was accepted');
  return { status: found.refusal.status, ...((await found.refusal.json()) as object) };
}

const message = (method: string, more: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', method, ...more });
const ping = (text: string) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${text}"}}`;

const NO_JSON = 'The body is not JSON.';
const NO_REQUEST = 'The body is not a JSON-RPC 2.0 request.';
const CANCELS = 'A batch cannot cancel what it asks for.';
const HALVES = 'The body has text that is not well-formed Unicode.';

test.each([
  ['that is not JSON', 'ping', -32_700, NO_JSON],
  ['with a message and something else', `[${ping('')},{}]`, -32_600, NO_REQUEST],
  ['with null as a message', '[null]', -32_600, NO_REQUEST],
  ['with a cancellation in a batch', `[${message('notifications/cancelled')}]`, -32_600, CANCELS],
  ['with half a character', ping(String.raw`\ud83d`), -32_600, HALVES],
  ['with half a character in capital letters', ping(String.raw`\uD83D`), -32_600, HALVES],
])('a body %s is refused', async (_, body, code, problem) => {
  const error = { code, message: problem };
  expect(await refused(body)).toEqual({ status: 400, jsonrpc: '2.0', id: null, error });
});

test('both halves of a character may be escaped', async () => {
  expect((await accepted(ping(String.raw`\ud83d\ude00`))).requests).toMatchObject([
    { params: { x: '😀' } },
  ]);
});

test('a body that breaks off is refused like an empty one', async () => {
  const broken = new ReadableStream({ pull: (stream) => stream.error(new Error('It broke off')) });
  expect(await refused(broken)).toMatchObject({ status: 400, error: { message: NO_JSON } });
});

test.each([
  ['a call', 'tools/call', { name: 'a' }, ['a']],
  ['a call without parameters', 'tools/call', undefined, []],
  ['a call with a number as the name', 'tools/call', { name: 7 }, []],
  ['another request', 'prompts/get', { name: 'a' }, []],
])('only a call of a tool names a tool: %s', async (_, method, params, names) => {
  const { calledTools } = await accepted(message(method, { id: 1, params }));
  expect(calledTools).toEqual(names);
});

const CANCELLED = 'notifications/cancelled';

test.each([
  ['a number', CANCELLED, { params: { requestId: 5 } }, [5]],
  ['a string', CANCELLED, { params: { requestId: '5' } }, ['5']],
  ['an object', CANCELLED, { params: { requestId: {} } }, []],
  ['no parameters', CANCELLED, {}, []],
  ['another notification', 'notifications/progress', { params: { requestId: 5 } }, []],
  ['a request', CANCELLED, { id: 1, params: { requestId: 5 } }, []],
])('only a notification with an id cancels a request: %s', async (_, method, more, ids) => {
  expect((await accepted(message(method, more))).cancelled).toEqual(ids);
});

test('a notification of 2026-07-28 cancels no request', async () => {
  const body = message(CANCELLED, { params: { requestId: 5 } });
  expect((await accepted(body, STATELESS)).cancelled).toEqual([]);
});

describe('before the body is read,', () => {
  test.each([
    [{ Accept: 'application/json' }, 406, 'Accept must list both'],
    [{ Accept: 'text/event-stream' }, 406, 'Accept must list both'],
    [{ 'Content-Type': 'text/plain' }, 415, 'Content-Type must be application/json.'],
  ])('the headers %j are refused', async (headers, status, message) => {
    const found = await refused('no JSON', BATCHING, { headers });
    const error = { code: -32_000, message: expect.stringContaining(message) as string };
    expect(found).toMatchObject({ status, error });
  });
});

describe('the size of a body', () => {
  const MIB = 1024 * 1024;
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

  test('is at most 1 MiB', async () => {
    const rest = ping('').length;
    expect((await accepted(ping('x'.repeat(MIB - rest)))).requests).toHaveLength(1);
    expect(await refused(ping('x'.repeat(MIB - rest + 1)))).toMatchObject({
      status: 413,
      error: { message: 'The body is larger than 1 MiB.' },
    });
  });

  test.each([
    ['levels', message('ping', { id: 1, params: { x: JSON.parse(nested(200)) as unknown } })],
    ['values', message('ping', { id: 1, params: { x: Array.from({ length: 10_000 }, () => 1) } })],
  ])('is limited in %s, and the answer has the id of a new request', async (what, body) => {
    const error = { code: -32_600, message: expect.stringContaining(what) as string };
    expect(await refused(body)).toMatchObject({ status: 400, id: null, error });
    expect(await refused(body, STATELESS)).toMatchObject({ status: 400, id: 1, error });
    const versions = offeredVersions([BATCHING]);
    expect(await refused(body, STATELESS, { versions })).toMatchObject({ id: null, error });
  });
});

describe('a caller with too many messages', () => {
  const waiting = (milliseconds: number) => ({ take: () => milliseconds });

  test('must wait, rounded up to a second', async () => {
    for (const [milliseconds, seconds] of [
      [1, '1'],
      [1000, '1'],
      [1001, '2'],
    ] as const) {
      const found = await read(ping(''), BATCHING, waiting(milliseconds));
      const refusal = 'refusal' in found ? found.refusal : null;
      expect([refusal?.status, refusal?.headers.get('retry-after')]).toEqual([429, seconds]);
    }
    const message = 'Too many messages: try again later.';
    expect(await refused(ping(''), BATCHING, waiting(1))).toEqual({
      status: 429,
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_000, message },
    });
    expect(await refused(ping(''), STATELESS, waiting(1))).toEqual({
      status: 429,
      jsonrpc: '2.0',
      id: 1,
      error: { code: 429, message },
    });
    expect(await refused('no JSON', STATELESS, waiting(1))).toMatchObject({
      status: 429,
      id: null,
    });
  });

  test.each([
    [ping(''), 1],
    ['no JSON', 1],
    ['[]', 1],
    [`[${ping('')}]`, 1],
    [`[${ping('')},1,2]`, 3],
  ])('sent %s, which counts as %d', async (body, count) => {
    const counted: number[] = [];
    await read(body, BATCHING, { take: (messages) => counted.push(messages) - 1 });
    expect(counted).toEqual([count]);
  });
});

describe('a batch', () => {
  const pings = (count: number) =>
    `[${Array.from({ length: count }, (_, id) => message('ping', { id })).join(',')}]`;
  const ONLY = 'Batches are only for the protocol version 2025-03-26.';

  test('is a list of at most 100 messages', async () => {
    expect(await accepted(pings(100))).toMatchObject({ isBatch: true, metadata: null });
    expect((await accepted(pings(1), null)).requests).toHaveLength(1);
    expect(await accepted(ping(''))).toMatchObject({ isBatch: false });
    expect(await refused(pings(101))).toMatchObject({
      status: 400,
      error: {
        code: -32_600,
        message: 'Invalid Request: Batch must not exceed 100 messages',
      },
    });
  });

  test('is not empty, and only in 2025-03-26', async () => {
    const error = { code: -32_600, message: ONLY };
    expect(await refused('[]')).toMatchObject({ status: 400, error });
    expect(await refused(pings(1), '2025-11-25')).toMatchObject({ status: 400, error });
  });

  test('cannot cancel a request, whatever else it contains', async () => {
    const body = `[${ping('')},${message('notifications/cancelled')}]`;
    expect(await refused(body)).toMatchObject({ error: { message: CANCELS } });
  });

  test('has no id twice, but the same number as a string', async () => {
    const [one, text] = [message('ping', { id: 1 }), message('ping', { id: '1' })];
    expect((await accepted(`[${one},${text}]`)).requests).toHaveLength(2);
    expect(await refused(`[${one},${one}]`)).toMatchObject({
      status: 400,
      error: { code: -32_600, message: 'Two requests of a batch have the same id.' },
    });
  });
});

describe('a body with initialize', () => {
  const params = {
    protocolVersion: BATCHING,
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  };
  const hello = (more: object = {}) =>
    message('initialize', { id: 2, params: { ...params, ...more } });

  test('is recognized, also with other messages, if its parameters are valid', async () => {
    expect((await accepted(hello())).initializes).toBe(true);
    expect((await accepted(`[${hello()},${message('initialize', { id: 3 })}]`)).initializes).toBe(
      true,
    );
    for (const body of [ping(''), hello({ clientInfo: 1 })])
      expect((await accepted(body)).initializes).toBe(false);
  });

  test('says only a little about the client', async () => {
    const experimental = Object.fromEntries(
      Array.from({ length: 2000 }, (_, index) => [`x${index}`, {}]),
    );
    const large = hello({ capabilities: { experimental } });
    expect(await refused(large)).toMatchObject({
      status: 400,
      id: null,
      error: {
        code: -32_602,
        message: expect.stringContaining('What the client says of itself is more than') as string,
      },
    });
    const other = message('ping', { id: 1, params: { experimental } });
    expect((await accepted(other)).requests).toHaveLength(1);
  });
});

test('a request of 2026-07-28 has metadata, and a wrong one is refused', async () => {
  expect((await accepted(message(CANCELLED), STATELESS)).metadata).toEqual({ capabilities: {} });
  expect(await refused(ping(''), STATELESS)).toMatchObject({ status: 400, id: 1 });
  const versions = offeredVersions([BATCHING]);
  const older = await read(ping(''), STATELESS, { versions });
  expect(older).toMatchObject({ messages: { metadata: null } });
});
