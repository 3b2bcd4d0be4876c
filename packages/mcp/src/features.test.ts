import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { mcpConfiguration } from './configuration.ts';
import type { McpContext } from './context.ts';
import { Contributions } from './contributions.ts';
import type { McpFeature } from './feature.ts';
import { endpoints } from './features/endpoints/index.ts';
import { organizationAccess } from './features/organization-access/index.ts';
import { resources } from './features/resources/index.ts';
import type { ResourceRegistry } from './features/resources/resources.ts';
import { securitySchemes } from './features/security-schemes/index.ts';
import { FEATURES } from './features.ts';
import { ContentRoom } from './tools/content-room.ts';
import type { RegisteredTool } from './tools/tools.ts';

const request = (method: string, params?: Readonly<Record<string, unknown>>) => ({
  jsonrpc: '2.0' as const,
  id: 1,
  method,
  ...(params === undefined ? {} : { params }),
});

const NO_CONTEXT = { config: mcpConfiguration.parse({}) } as McpContext;
const NO_CALLER = {} as Parameters<Contributions['answer']>[1];

/** A feature that adds these members, unless `isOff` says that it is off. */
function feature(name: string, members: object, isOff = () => false): McpFeature {
  return { name, start: () => ({ isOffered: () => !isOff(), ...members }) };
}

describe('features', () => {
  test('have their own names', () => {
    expect(FEATURES.map(({ name }) => name)).toEqual([
      'endpoints',
      'organization_access',
      'resources',
      'security_schemes',
    ]);
  });

  test('add capabilities, extensions, registries and guarded things', () => {
    const guarded = [{ called: 'the door', personal: true, scope: null }];
    const both = new Contributions(NO_CONTEXT, [
      feature('a', { capabilities: { a: {} }, extensions: { 'x/a': {} }, registry: guarded }),
      feature('b', { capabilities: { b: { c: true } }, guarded: () => guarded }),
    ]);
    expect(both.capabilities).toEqual({
      tools: {},
      a: {},
      b: { c: true },
      extensions: { 'x/a': {} },
    });
    expect([...both.registries]).toEqual([['a', guarded]]);
    expect(both.guarded()).toEqual(guarded);
    expect(new Contributions(NO_CONTEXT, []).capabilities).toEqual({ tools: {} });
  });

  test('add nothing while they are off, except what they guard', async () => {
    const guarded = [{ called: 'the door', personal: true, scope: null }];
    const members = {
      capabilities: { a: {} },
      extensions: { 'x/a': {} },
      guarded: () => guarded,
      methods: { 'doors/open': { type: 'PingRequest', answer: () => ({ result: {} }) } },
      toolMembers: () => ({ a: 1 }),
      refusedCallMeta: () => ({ a: 1 }),
    };
    let isOff = false;
    const contributions = new Contributions(NO_CONTEXT, [feature('a', members, () => isOff)]);
    const seen = () => [
      contributions.capabilities,
      contributions.has('doors/open'),
      contributions.toolMembers({} as never, ''),
      contributions.refusedCallMeta(''),
      contributions.guarded(),
    ];
    expect(seen()).toEqual([
      { tools: {}, a: {}, extensions: { 'x/a': {} } },
      true,
      { a: 1 },
      { a: 1 },
      guarded,
    ]);
    isOff = true;
    expect(seen()).toEqual([{ tools: {} }, false, {}, null, guarded]);
    expect(await contributions.answer(request('doors/open'), NO_CALLER)).toBe(null);
  });

  test('answer their own methods, and nothing that objects inherit', async () => {
    const used = { personal: false, scope: null };
    const refusals = { 401: 'Link.', 403: 'No.' };
    const methods = {
      ping: {
        type: 'PingRequest',
        uses: (params?: object) => (params === undefined ? null : { used, refusals }),
        answer: (params?: object) => ({ result: { params: params ?? null } }),
      },
      pong: { type: 'JSONRPCRequest', answer: () => ({ result: {} }) },
    };
    const contributions = new Contributions(NO_CONTEXT, [
      feature('none', {}),
      feature('a', { methods }),
    ]);
    expect(contributions.refusedCallMeta('')).toBe(null);
    expect([contributions.has('ping'), contributions.has('toString')]).toEqual([true, false]);
    const asked = { ...request('ping', { _meta: {} }) };
    expect(contributions.usedBy([asked, request('pong'), request('ping'), request('x')])).toEqual([
      { used, refusals },
    ]);
    expect(await contributions.answer(asked, NO_CALLER)).toEqual({
      result: { params: { _meta: {} } },
    });
    const wrong = await contributions.answer(request('pong', { _meta: 1 }), NO_CALLER);
    expect(wrong).toMatchObject({ error: { code: -32_602 } });
    expect(await contributions.answer(request('other'), NO_CALLER)).toBe(null);
  });
});

test('an additional endpoint has its own name, instructions, scopes and challenges', () => {
  const config = mcpConfiguration.parse({
    name: 'Main',
    instructions: 'Ask.',
    tool_timeout: 7,
    oauth: { scopes_supported: ['a'], challenge: true },
    endpoints: { '/b': {}, '/c': { name: 'C', instructions: 'Do.', scopes_supported: ['c'] } },
  });
  const oauth = { ...config.oauth, challenge: false };
  expect(endpoints.endpoints?.(config)).toEqual({
    '/b': { ...config, oauth },
    '/c': {
      ...config,
      name: 'C',
      instructions: 'Do.',
      oauth: { ...oauth, scopes_supported: ['c'] },
    },
  });
  expect(endpoints.endpoints?.(mcpConfiguration.parse({}))).toEqual({});
  expect(endpoints.start(NO_CONTEXT).isOffered()).toBe(false);
});

test.each([
  [['jwt'], true],
  [[], false],
] as const)(
  'the extension for organizations is offered with the grants %j: %s',
  (grants, isOffered) => {
    const beginningAs = (kind: string) => (kind === 'organization' ? grants : ['other']);
    const context = { server: { grantTypes: { beginningAs } } } as unknown as McpContext;
    const started = organizationAccess.start(context);
    expect([started.isOffered(), started.extensions]).toEqual([
      isOffered,
      { 'io.modelcontextprotocol/enterprise-managed-authorization': {} },
    ]);
  },
);

describe('security schemes', () => {
  const started = (section: object) =>
    securitySchemes.start({
      config: mcpConfiguration.parse(section),
      challenges: { listed: ['a', 'b'], scopesFor: () => ['c'] },
    } as unknown as McpContext);
  const on = { security_schemes: true, oauth: { challenge: true } };

  test('are offered only with challenges', () => {
    expect(started(on).isOffered()).toBe(true);
    for (const section of [{}, { security_schemes: true }, { oauth: { challenge: true } }])
      expect(started(section).isOffered()).toBe(false);
  });

  test.each([
    [true, ['c']],
    [false, ['a']],
  ])('list the scopes of a tool (personal: %s)', (personal, scopes) => {
    const listed = [{ type: 'oauth2', scopes }];
    const members = (version: string) =>
      started(on).toolMembers?.({ personal } as RegisteredTool, version);
    expect(members('2025-03-26')).toEqual({ securitySchemes: listed });
    for (const version of ['2025-06-18', '2026-07-28'])
      expect(members(version)).toEqual({
        securitySchemes: listed,
        _meta: { securitySchemes: listed },
      });
  });

  test('add the challenge to a refused call', () => {
    expect(started(on).refusedCallMeta?.('Bearer')).toEqual({
      'mcp/www_authenticate': ['Bearer'],
    });
  });
});

describe('resources', () => {
  const INTERNAL = { code: -32_603, message: 'The resource cannot be read.' };

  /** An endpoint with these resources, and what it has logged. */
  function started(given: readonly object[]) {
    const logged: unknown[] = [];
    const log = { error: (...line: readonly unknown[]) => void logged.push(line) };
    const context = { config: mcpConfiguration.parse({}), log } as unknown as McpContext;
    const contributions = new Contributions(context, [resources]);
    const registry = contributions.registries.get('resources') as ResourceRegistry;
    for (const each of given)
      registry.register({ uri: () => 'a:b', name: () => 'B', read: () => '', ...each });
    const room = new ContentRoom();
    const ask = (
      method: string,
      params?: Readonly<Record<string, unknown>>,
      version = '2025-11-25',
      signal = new AbortController().signal,
    ) =>
      contributions.answer(request(method, params), {
        signal,
        notify: () => undefined,
        version,
        room,
      });
    return { ask, logged, contributions };
  }
  const read = (content: unknown, version?: string) =>
    started([{ read: () => content }]).ask('resources/read', { uri: 'a:b' }, version);
  const CACHED = { cacheScope: 'private', ttlMs: 300_000 };

  test('are offered only if there are any', () => {
    expect(started([]).contributions.capabilities).toEqual({ tools: {} });
    const { contributions } = started([{ personal: true, scope: () => 'b' }]);
    expect(contributions.capabilities).toEqual({ tools: {}, resources: {} });
    expect(contributions.guarded()).toEqual([
      { called: 'the resource a:b', personal: true, scope: 'b' },
    ]);
  });

  test('are guarded if a request reads them', () => {
    const { contributions } = started([{ personal: true, scope: () => 'b' }]);
    const asked = [undefined, {}, { uri: 7 }, { uri: 'a:c' }, { uri: 'a:b' }];
    const used = contributions.usedBy(asked.map((params) => request('resources/read', params)));
    expect(used).toEqual([
      {
        used: expect.objectContaining({ uri: 'a:b', personal: true, scope: 'b' }) as unknown,
        refusals: {
          401: 'This resource belongs to an account: link one first.',
          403: 'The linked account or its token does not reach this resource.',
        },
      },
    ]);
  });

  test('are listed with the members of the version', async () => {
    const described = { title: () => 'T', description: () => 'D', mimeType: () => 'text/plain' };
    const { ask } = started([described, { uri: () => 'a:c' }]);
    const [first, second] = [
      { uri: 'a:b', name: 'B' },
      { uri: 'a:c', name: 'B' },
    ];
    const all = { ...first, title: 'T', description: 'D', mimeType: 'text/plain' };
    const { title: _, ...untitled } = all;
    const list = async (version: string) => ask('resources/list', undefined, version);
    expect(await list('2025-03-26')).toEqual({ result: { resources: [untitled, second] } });
    for (const version of ['2025-06-18', '2025-11-25'])
      expect(await list(version)).toEqual({ result: { resources: [all, second] } });
    expect(await list('2026-07-28')).toEqual({
      result: { resources: [all, second], ...CACHED },
    });
    expect(await ask('resources/templates/list')).toEqual({ result: { resourceTemplates: [] } });
    for (const method of ['resources/list', 'resources/templates/list', 'resources/read'])
      expect(await ask(method, { _meta: 1 })).toMatchObject({ error: { code: -32_602 } });
  });

  test('are read as text or bytes', async () => {
    expect(await read('text')).toEqual({ result: { contents: [{ uri: 'a:b', text: 'text' }] } });
    expect(await read(new Uint8Array([1, 2]), '2026-07-28')).toEqual({
      result: { contents: [{ uri: 'a:b', blob: 'AQI=' }], ...CACHED, ttlMs: 0 },
    });
    const typed = started([{ mimeType: () => 'text/plain' }]);
    expect(await typed.ask('resources/read', { uri: 'a:b' })).toEqual({
      result: { contents: [{ uri: 'a:b', mimeType: 'text/plain', text: '' }] },
    });
  });

  test('must be text or bytes of at most 1 MiB', async () => {
    const MIB = 1024 * 1024;
    for (const good of ['x'.repeat(MIB), new Uint8Array(MIB)])
      expect(await read(good)).toMatchObject({ result: {} });
    const wrong = ['x'.repeat(MIB + 1), `${'x'.repeat(MIB - 1)}\u{e4}`, new Uint8Array(MIB + 1)];
    for (const bad of [...wrong, 7, null, undefined, [1, 2], { byteLength: 1 }])
      expect(await read(bad)).toEqual({ error: INTERNAL });
  });

  test('that fail are logged', async () => {
    const broken = new Error('broken');
    const failing = started([{ read: () => Promise.reject(broken) }]);
    expect(await failing.ask('resources/read', { uri: 'a:b' })).toEqual({ error: INTERNAL });
    expect(failing.logged).toEqual([
      ['The resource {resource} failed: {exception}', { resource: 'a:b', exception: broken }],
    ]);
  });

  test('that take too long are an error, and logged unless the caller is gone', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const signals: AbortSignal[] = [];
    const { ask, logged } = started([
      {
        read({ signal }: { signal: AbortSignal }) {
          signals.push(signal);
          return new Promise(() => {});
        },
      },
    ]);
    const slow = ask('resources/read', { uri: 'a:b' });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await slow).toEqual({ error: INTERNAL });
    const line = [
      'Reading the resource {resource} {took} (mcp:tool_timeout)',
      { resource: 'a:b', took: 'took longer than 120 seconds' },
    ];
    expect(logged).toEqual([line]);
    const gone = ask('resources/read', { uri: 'a:b' }, undefined, AbortSignal.abort());
    expect(await gone).toEqual({
      error: { ...INTERNAL, message: 'The request was cancelled.' },
    });
    expect([logged.length, vi.getTimerCount()]).toEqual([1, 0]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test('of one request have room for 4 MiB', async () => {
    const { ask } = started([{ read: () => 'x'.repeat(1024 * 1024) }]);
    const answers = [];
    for (let each = 0; each < 5; each += 1)
      answers.push(await ask('resources/read', { uri: 'a:b' }));
    expect(answers.map((answer) => 'error' in (answer ?? {}))).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  test('get the trace of the request', async () => {
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { ask } = started([{ read: ({ trace }: { trace: object }) => JSON.stringify(trace) }]);
    const params = { uri: 'a:b', _meta: { traceparent: parent } };
    const trace = JSON.stringify({ parent, state: null, baggage: null });
    expect(await ask('resources/read', params)).toEqual({
      result: { contents: [{ uri: 'a:b', text: trace }] },
    });
  });

  test.each([
    ['2025-11-25', -32_002],
    ['2026-07-28', -32_602],
  ])('that do not exist are an error in %s', async (version, code) => {
    const { ask } = started([{}]);
    expect(await ask('resources/read', { uri: 'a:c' }, version)).toEqual({
      error: { code, message: 'No resource has this URI.', data: { uri: 'a:c' } },
    });
  });
});
