import { describe, expect, test } from 'vitest';
import { readMetadata } from './stateless.ts';
import { offeredVersions } from './versions.ts';

const NEW = '2026-07-28';
const BOTH = offeredVersions([NEW, '2025-11-25']);
const ONLY_NEW = offeredVersions([NEW]);

type Fields = Readonly<Record<string, string>>;

const META = {
  'io.modelcontextprotocol/protocolVersion': NEW,
  'io.modelcontextprotocol/clientCapabilities': { roots: {} },
};
const request = (method: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params: { _meta: META, ...params },
});

/** Returns the metadata, or the status and the error of the refusal. */
async function read(body: unknown, headers: Fields = {}, versions = BOTH): Promise<unknown> {
  const found = readMetadata(body, new Headers(headers), versions);
  if (!('refusal' in found)) return found.metadata;
  const { error } = (await found.refusal.json()) as { readonly error: object };
  return { status: found.refusal.status, ...error };
}

const named = (method: string, name?: string): Fields => ({
  'MCP-Protocol-Version': NEW,
  'Mcp-Method': method,
  ...(name === undefined ? {} : { 'Mcp-Name': name }),
});

const mismatch = (header: string) => ({
  status: 400,
  code: -32_020,
  message: `The header ${header} is missing or does not match the request body.`,
});
const unsupported = (requested: string, versions = BOTH) => ({
  status: 400,
  code: -32_022,
  message: `Unsupported protocol version (supported versions: ${versions.all.join(', ')})`,
  data: { supported: versions.all, requested },
});
const invalid = (message: string) => ({ status: 400, code: -32_600, message });

describe('the headers of a request of 2026-07-28', () => {
  test.each([
    ['tools/call', { name: 'a' }, 'a'],
    ['prompts/get', { name: 'a' }, 'a'],
    ['resources/read', { uri: 'a:b', name: 'c' }, 'a:b'],
  ])('repeat the name for %s', async (method, params, name) => {
    const body = request(method, params);
    expect(await read(body, named(method, name))).toEqual({ capabilities: { roots: {} } });
    for (const wrong of [undefined, 'other', 'c'])
      expect(await read(body, named(method, wrong))).toEqual(mismatch('Mcp-Name'));
  });

  test.each([
    ['tools/list', { name: 'a', uri: 'a:b' }],
    ['tools/call', { name: 7 }],
    ['tools/call', {}],
    ['resources/read', { name: 'a' }],
    ['resources/read', { uri: ['a'] }],
  ])('need no name for %s with %j', async (method, params) => {
    for (const headers of [named(method), named(method, 'other')])
      expect(await read(request(method, params), headers)).toEqual({
        capabilities: { roots: {} },
      });
  });

  test('repeat the version and the method', async () => {
    const body = request('ping');
    expect(await read(body, { ...named('ping'), 'Mcp-Method': 'PING' })).toEqual(
      mismatch('Mcp-Method'),
    );
    for (const headers of [{}, { ...named('ping'), 'MCP-Protocol-Version': '2025-11-25' }])
      expect(await read(body, headers)).toEqual(mismatch('MCP-Protocol-Version'));
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    expect(await read(initialize, named('initialize'))).toEqual(mismatch('MCP-Protocol-Version'));
  });
});

describe('the metadata of a request of 2026-07-28', () => {
  const VERSION = 'io.modelcontextprotocol/protocolVersion';
  const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
  const CLIENT = 'io.modelcontextprotocol/clientInfo';
  const lacks = (key: string) => ({
    status: 400,
    code: -32_602,
    message: `The request has no _meta as in ${NEW}: ${key}`,
  });

  test.each<[object, string]>([
    [{ [VERSION]: undefined }, VERSION],
    [{ [VERSION]: 7 }, VERSION],
    [{ [CAPABILITIES]: undefined }, CAPABILITIES],
    [{ [CAPABILITIES]: 'all' }, CAPABILITIES],
    [{ [CLIENT]: 'me' }, CLIENT],
    [{ [CLIENT]: { name: 'a' } }, CLIENT],
  ])('%j has no good %s', async (changes, key) => {
    const _meta = JSON.parse(JSON.stringify({ ...META, ...changes })) as object;
    expect(await read(request('ping', { _meta }), named('ping'))).toEqual(lacks(key));
  });

  test('can name the client, and be that of initialize', async () => {
    const _meta = { ...META, [CLIENT]: { name: 'a', version: '1' } };
    for (const method of ['ping', 'initialize'])
      expect(await read(request(method, { _meta }), named(method))).toEqual({
        capabilities: { roots: {} },
      });
  });

  test('and its header must have a version that the endpoint supports', async () => {
    for (const version of ['2027-01-01', '2025-11-25']) {
      const _meta = { ...META, [VERSION]: version };
      const headers = { ...named('ping'), 'MCP-Protocol-Version': version };
      expect(await read(request('ping', { _meta }), headers)).toEqual(unsupported(version));
    }
    const later = { ...named('ping'), 'MCP-Protocol-Version': '2027-01-01' };
    expect(await read(request('ping', { _meta: {} }), later)).toEqual(unsupported('2027-01-01'));
  });
});

describe('a batch', () => {
  const old = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const message = 'Requests of protocol version 2026-07-28 cannot be sent in a batch.';

  test('belongs to an older version', async () => {
    expect(await read([old])).toBe(null);
    expect(await read([old, request('ping')])).toEqual(invalid(message));
    expect(await read([old], {}, ONLY_NEW)).toEqual(invalid(message));
  });
});

describe('a notification', () => {
  const notification = (_meta?: object) => ({
    jsonrpc: '2.0',
    method: 'notifications/x',
    params: _meta === undefined ? {} : { _meta },
  });

  test('of 2026-07-28 names it in a header, in its metadata, or in both', async () => {
    const headers = { 'MCP-Protocol-Version': NEW };
    for (const accepted of [
      read(notification(META)),
      read(notification(), headers),
      read(notification(META), headers),
    ])
      expect(await accepted).toEqual({ capabilities: {} });
    const other = { 'MCP-Protocol-Version': '2025-11-25' };
    expect(await read(notification(META), other)).toEqual(mismatch('MCP-Protocol-Version'));
  });

  test('of an unknown version is refused', async () => {
    const headers = { 'MCP-Protocol-Version': '2027-01-01' };
    expect(await read(notification(), headers)).toEqual(unsupported('2027-01-01'));
  });
});

describe('a message', () => {
  test.each(['x2027-01-01', '2027-01-01x', '2025-11-25', '20270101', 'zzzz', ''])(
    'with the version %j in its header is left to older versions',
    async (version) => {
      const headers = { 'MCP-Protocol-Version': version };
      expect(await read({ jsonrpc: '2.0', id: 1, method: 'ping' }, headers)).toBe(null);
    },
  );

  test.each([null, 7, 'text', { params: null }, { params: { _meta: null } }, { params: [] }])(
    'without a version is left to older versions: %j',
    async (body) => {
      expect(await read(body)).toBe(null);
      expect(await read(body, {}, ONLY_NEW)).toEqual(unsupported('unknown', ONLY_NEW));
    },
  );

  test('of 2026-07-28 must be a request', async () => {
    const body = { jsonrpc: '2.0', id: 1, result: {}, params: { _meta: META } };
    expect(await read(body)).toEqual(invalid('The body is not a JSON-RPC 2.0 request.'));
  });

  test.each([
    ['2025-11-25', '2025-11-25'],
    ['v'.repeat(32), 'v'.repeat(32)],
    ['v'.repeat(33), 'unknown'],
    ['a b', 'unknown'],
    [' a', 'unknown'],
    ['a ', 'unknown'],
    [7, 'unknown'],
  ])('that asks for the version %j is told %j', async (protocolVersion, told) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion } };
    expect(await read(body, {}, ONLY_NEW)).toEqual(unsupported(told, ONLY_NEW));
  });
});
