import { describe, expect, test } from 'vitest';
import { mcpConfiguration } from './configuration.ts';
import type { McpContext } from './context.ts';
import { Contributions } from './contributions.ts';
import type { McpFeature } from './feature.ts';
import { endpoints } from './features/endpoints/index.ts';
import { organizationAccess } from './features/organization-access/index.ts';
import { FEATURES } from './features.ts';

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
