import type { AuthorizationServer, ProtectedApi } from 'portico';
import type { BindingRefusal } from 'portico/extension';
import { describe, expect, test } from 'vitest';
import { Challenges } from './challenges.ts';
import type { McpConfig } from './config.ts';
import { mcpConfiguration } from './configuration.ts';
import { getScope, listedScopes, SERVICE_SCOPE } from './tools/tool-access.ts';

const METADATA = 'https://shop.example/.well-known/oauth-protected-resource/mcp';

/** The server, as far as challenges read it. */
const serverWith = (admitsUnverified: boolean) => ({ admitsUnverified }) as AuthorizationServer;
/** An API that offers these scopes. */
const offering = (scopes: readonly string[]) =>
  ({ offers: (scope) => scopes.includes(scope) }) as ProtectedApi;

function challenged(
  supported: readonly string[],
  { challenge = true, offered = [...supported, 'orders'] } = {},
): Challenges {
  const oauth = { scopes_supported: supported, challenge };
  const config: McpConfig = mcpConfiguration.parse({ oauth });
  return new Challenges({ server: serverWith(false), api: offering(offered), config }, METADATA);
}

const ORDERS = { personal: true, scope: 'orders' };
const MINE = { personal: true, scope: null };
const PUBLIC = { personal: false, scope: null };

const binding = (presented: boolean): BindingRefusal => ({
  scheme: 'DPoP',
  required: false,
  parameters: { algs: 'ES256' },
  metadata: {},
  proofField: 'DPoP',
  answerField: 'DPoP-Nonce',
  presented,
  answer: presented ? 'next' : null,
});

const header = (fields: Readonly<Record<string, string>>) => fields['WWW-Authenticate'];
const ABOUT = `resource_metadata="${METADATA}", scope="a b"`;

describe('a challenge about the whole resource', () => {
  test.each([
    ['missing_token', `Bearer ${ABOUT}`],
    ['insufficient_scope', `Bearer error="insufficient_scope", ${ABOUT}`],
    ['invalid_token', `Bearer error="invalid_token", ${ABOUT}`],
    ['invalid_request', `Bearer error="invalid_token", ${ABOUT}`],
  ] as const)('says what a client needs after %s', (error, expected) => {
    expect(challenged(['a', 'b']).ofResource(error, null)).toEqual({
      'WWW-Authenticate': expected,
    });
  });

  test('says more about tokens that are bound to a key', () => {
    const bound = challenged(['a', 'b']).ofResource('invalid_request', binding(true));
    expect(bound).toEqual({
      'WWW-Authenticate': `DPoP error="invalid_request", ${ABOUT}, algs="ES256"`,
      'DPoP-Nonce': 'next',
    });
    const unbound = challenged(['a', 'b']).ofResource('invalid_token', binding(false));
    expect(header(unbound)).toBe(
      `Bearer error="invalid_token", ${ABOUT}, DPoP ${ABOUT}, algs="ES256"`,
    );
  });

  test('does not list scopes that the API does not offer', () => {
    expect(challenged(['a', 'b'], { offered: ['b'] }).listed).toEqual(['b']);
    const none = challenged(['a'], { offered: [] });
    expect(header(none.ofResource('missing_token', null))).toBe(
      `Bearer resource_metadata="${METADATA}"`,
    );
  });

  test('is sent without mcp:oauth:challenge only for a bound token', () => {
    const quiet = challenged(['a'], { challenge: false });
    for (const each of [null, binding(false)])
      expect([quiet.ofResource('invalid_token', each), quiet.ofUses(403, [ORDERS], each)]).toEqual([
        {},
        {},
      ]);
    expect(header(quiet.ofResource('invalid_token', binding(true)))).toBe(
      'DPoP error="invalid_token", algs="ES256"',
    );
    expect(header(quiet.ofUses(403, [ORDERS], binding(true)))).toBe(
      'DPoP error="insufficient_scope", algs="ES256"',
    );
    const refused = { status: 403, message: 'No.' } as const;
    for (const each of [null, binding(true)])
      expect(quiet.described(refused, [ORDERS], each)).toBe(null);
  });
});

describe('a challenge about tools', () => {
  const needs = (scopes: string) => `resource_metadata="${METADATA}", scope="${scopes}"`;

  test('lists what the tools need, and one scope of the endpoint', () => {
    const challenges = challenged(['a', 'b']);
    expect(header(challenges.ofUses(401, [MINE], null))).toBe(
      `Bearer error="invalid_token", ${needs('a')}`,
    );
    expect(header(challenges.ofUses(403, [PUBLIC, ORDERS, MINE, ORDERS], null))).toBe(
      `Bearer error="insufficient_scope", ${needs('a orders')}`,
    );
    expect(header(challenges.ofUses(403, [{ personal: true, scope: 'b' }], null))).toBe(
      `Bearer error="insufficient_scope", ${needs('b')}`,
    );
  });

  test('describes the problem for a model', () => {
    const refused = { status: 403, message: 'No orders.' } as const;
    expect(challenged(['a']).described(refused, [ORDERS], null)).toBe(
      `Bearer error="insufficient_scope", error_description="No orders.", ${needs('a orders')}`,
    );
  });

  test.each([
    [PUBLIC, []],
    [MINE, ['a']],
    [ORDERS, ['a', 'orders']],
    [{ personal: true, scope: 'a' }, ['a']],
    [{ personal: true, scope: 'gone' }, ['a']],
  ])('needs for %j the scopes %j', (used, scopes) => {
    expect(challenged(['a', 'b']).scopesFor(used)).toEqual(scopes);
  });

  test('needs only the own scope of a tool if the API offers no other', () => {
    const challenges = challenged(['a'], { offered: ['orders'] });
    expect([challenges.scopesFor(ORDERS), challenges.scopesFor(MINE)]).toEqual([['orders'], []]);
  });
});

describe('the scope of a tool', () => {
  test.each([
    [PUBLIC, null],
    [{ personal: false, scope: 'orders' }, null],
    [MINE, 'a'],
    [ORDERS, 'orders'],
    [{ personal: true, scope: 'gone' }, 'a'],
  ])('of %j is %j', (used, scope) => {
    expect(getScope(used, offering(['a', 'orders']), ['a', 'b'])).toBe(scope);
  });

  test('is null if the API offers no scope of the endpoint', () => {
    expect(getScope(MINE, offering([]), [])).toBe(null);
    const offeringAll = { offers: () => true } as unknown as ProtectedApi;
    expect(getScope(MINE, offeringAll, ['a'])).toBe('a');
  });
});

test('the scope for services is not listed if clients can register themselves', () => {
  const scopes = ['a', SERVICE_SCOPE, 'b'];
  expect(listedScopes(serverWith(false), scopes)).toEqual(scopes);
  expect(listedScopes(serverWith(true), scopes)).toEqual(['a', 'b']);
});
