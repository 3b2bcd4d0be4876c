import { expect, test } from 'vitest';
import { readMessages, type Messages } from './messages.ts';
import { offeredVersions } from './versions.ts';

const BATCHING = '2025-03-26';
const STATELESS = '2026-07-28';
const VERSIONS = offeredVersions([STATELESS, BATCHING]);

function read(body: string | ReadableStream, version = BATCHING) {
  const headers = {
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
    'MCP-Protocol-Version': version,
  };
  const asked = { method: 'POST', headers, body, duplex: 'half' as const };
  return readMessages(new Request('https://app.example/mcp', asked), VERSIONS, () => 0);
}

/** Returns the messages of a body that must be accepted. */
async function accepted(body: string, version?: string): Promise<Messages> {
  const found = await read(body, version);
  if ('refusal' in found) throw new Error(await found.refusal.text());
  return found.messages;
}

/** Returns the response to a body that must be refused. */
async function refused(body: string | ReadableStream) {
  const found = await read(body);
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
