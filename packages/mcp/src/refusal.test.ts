import { describe, expect, test } from 'vitest';
import {
  getRefusal,
  jsonResponse,
  protocolRefusal,
  refusal,
  refusedCall,
  requestRefusal,
} from './refusal.ts';

const seen = async (response: Response) => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: (await response.json()) as unknown,
  noted: getRefusal(response),
});

const JSON_TYPE = { 'content-type': 'application/json' };
const NO_STORE = { 'cache-control': 'no-store', ...JSON_TYPE };

describe('a refusal', () => {
  test('before the protocol has a code, no id, and must not be stored', async () => {
    expect(await seen(refusal(403, 'No.'))).toEqual({
      status: 403,
      headers: NO_STORE,
      body: { jsonrpc: '2.0', error: { code: -32_000, message: 'No.' }, id: null },
      noted: { status: 403, message: 'No.' },
    });
    const other = await seen(refusal(401, 'No.', { 'WWW-Authenticate': 'Bearer' }, -1));
    expect(other.headers).toEqual({ ...NO_STORE, 'www-authenticate': 'Bearer' });
    expect(other.body).toMatchObject({ error: { code: -1 } });
  });

  test('of an earlier version can have another message in the log', async () => {
    expect(await seen(protocolRefusal('Not: x', -32_600, 'Not'))).toEqual({
      status: 400,
      headers: JSON_TYPE,
      body: { jsonrpc: '2.0', error: { code: -32_600, message: 'Not: x' }, id: null },
      noted: { status: 400, message: 'Not' },
    });
    expect(getRefusal(protocolRefusal('Not: x', -32_600))?.message).toBe('Not: x');
  });

  test.each([
    [{ id: 'a' }, 'a'],
    [{ id: '' }, ''],
    [{ id: 0 }, 0],
    [{ id: 7 }, 7],
    [{ id: null }, null],
    [{ id: { a: 1 } }, null],
    [{ id: true }, null],
    [{}, null],
    [[], null],
    [null, null],
    [undefined, null],
    ['id', null],
    [7, null],
  ])('of the message %j repeats the id %j', async (message, id) => {
    const error = { code: 403, message: 'No.', data: { a: 1 } };
    expect(await seen(requestRefusal(403, message, error))).toEqual({
      status: 403,
      headers: NO_STORE,
      body: { jsonrpc: '2.0', id, error },
      noted: { status: 403, message: 'No.' },
    });
  });

  test('of a request can have further headers', () => {
    const refused = requestRefusal(401, {}, { code: 1, message: '' }, { Vary: 'Origin' });
    expect(Object.fromEntries(refused.headers)).toEqual({ ...NO_STORE, vary: 'Origin' });
  });

  test('of a tool call is a tool error with the status 200', async () => {
    const call = { jsonrpc: '2.0', id: 3, method: 'tools/call' } as const;
    const refused = { status: 401, message: 'Link an account.' };
    expect(await seen(refusedCall(call, refused, { _meta: { a: 1 } }))).toEqual({
      status: 200,
      headers: NO_STORE,
      body: {
        jsonrpc: '2.0',
        id: 3,
        result: {
          content: [{ type: 'text', text: 'Link an account.' }],
          isError: true,
          _meta: { a: 1 },
        },
      },
      noted: refused,
    });
  });
});

test('another response is no refusal', async () => {
  const response = jsonResponse({ a: '\ud800' }, 201, { Vary: 'Origin' });
  expect(await seen(response)).toEqual({
    status: 201,
    headers: { ...JSON_TYPE, vary: 'Origin' },
    body: { a: '\ufffd' },
    noted: null,
  });
});
