import type { CompleteHost } from '../host/host.ts';
import { describe, expect, test } from 'vitest';
import { OAuthError } from '../errors.ts';
import {
  createScopeCatalog,
  formatScope,
  intersectScopes,
  isScopeToken,
  listedScopes,
  requireScopes,
  scopesHeldBy,
  scopesInForce,
  getSpeakingOptions,
} from './scopes.ts';

const CONFIGURED = {
  'notes:read': 'Read your notes',
  'notes:write': { label: 'Write', permission: 'notes.edit', description: 'Every note' },
  plan: { label: 'See your plan', permission: 'notes.edit', claims: ['plan'] },
} as const;
const catalog = createScopeCatalog(CONFIGURED);

describe('the scopes of a server', () => {
  test('are the identity scopes, without a permission, and the configured ones with defaults', () => {
    const offered = createScopeCatalog(CONFIGURED);
    expect([...offered.keys()]).toEqual([
      'openid',
      'profile',
      'email',
      'notes:read',
      'notes:write',
      'plan',
    ]);
    expect(offered.get('email')).toStrictEqual({
      name: 'email',
      label: expect.any(String) as string,
      description: null,
      permission: null,
    });
    expect(offered.get('notes:read')).toStrictEqual({
      name: 'notes:read',
      label: 'Read your notes',
      description: null,
      permission: 'notes:read',
    });
    expect(offered.get('notes:write')).toStrictEqual({
      name: 'notes:write',
      label: 'Write',
      description: 'Every note',
      permission: 'notes.edit',
    });
    expect(offered.get('plan')).toStrictEqual({
      name: 'plan',
      label: 'See your plan',
      description: null,
      permission: 'notes.edit',
      claims: ['plan'],
    });
  });

  test('have labels and descriptions for pages, if these are configured', () => {
    const scopes = {
      read: 'Read',
      write: { label: 'Write', description: 'All' },
      list: { label: 'List' },
    };
    expect(getSpeakingOptions({ scopes })).toStrictEqual({
      languages: false,
      own: {
        'scope.read.label': 'Read',
        'scope.write.label': 'Write',
        'scope.write.description': 'All',
        'scope.list.label': 'List',
      },
    });
    expect(getSpeakingOptions({ scopes: {}, languages: ['de'] })).toEqual({
      languages: ['de'],
      own: {},
    });
  });

  test.each([
    ['notes:read', true],
    ['a', true],
    ['!', true],
    ['#', true],
    ['[', true],
    [']', true],
    ['~', true],
    ['', false],
    ['a b', false],
    ['"', false],
    ['\\', false],
    ['\u{7f}', false],
    ['a\n', false],
    ['\na', false],
    ['é', false],
    ['"a', false],
    ['a"', false],
  ])('have names in the characters of RFC 6749, section 3.3: %j', (name, isOne) => {
    expect(isScopeToken(name)).toBe(isOne);
  });
});

describe('the scopes of a request', () => {
  const available = ['openid', 'notes:read', 'notes:write'];
  const choice = { available, refusal: 'Not these.', detail: 'beyond the client' };
  const asked = (scope: string | undefined, more: object = {}) =>
    requireScopes(scope, { ...choice, ...more });
  function refusal(scope: string | undefined, more: object = {}): OAuthError {
    try {
      asked(scope, more);
    } catch (error) {
      if (error instanceof OAuthError) return error;
      throw error;
    }
    throw new Error('nothing was refused');
  }

  test('are those that it names, in order, each once, without offline_access', () => {
    expect(asked('notes:write openid')).toEqual(['notes:write', 'openid']);
    expect(asked(' openid  openid notes:read ')).toEqual(['openid', 'notes:read']);
    expect(asked('offline_access notes:read')).toEqual(['notes:read']);
  });

  test('are all available ones or a given default, if it names none or only offline_access', () => {
    expect(asked(undefined)).toEqual(available);
    expect(asked('offline_access')).toEqual(available);
    expect(asked(undefined, { omitted: ['openid'] })).toEqual(['openid']);
    expect(asked('offline_access', { omitted: ['openid'] })).toEqual(['openid']);
  });

  test('are refused if empty or more than available, and the log contains which', () => {
    for (const scope of ['', ' '])
      expect(refusal(scope)).toMatchObject({
        code: 'invalid_scope',
        message: 'Not these.',
        detail: 'no scope was requested',
      });
    expect(refusal(undefined, { available: [] }).detail).toBe('no scope was requested');
    expect(refusal('openid plan other')).toMatchObject({
      code: 'invalid_scope',
      message: 'Not these.',
      detail: 'beyond the client: "plan", "other"',
    });
  });

  test('are refused if a name is invalid, and the log contains which', () => {
    expect(refusal('openid "x"')).toMatchObject({
      code: 'invalid_scope',
      message: 'The scope is not well formed.',
      detail: 'not well formed: "\\u{22}x\\u{22}"',
    });
  });

  test('that only the client lacks are replaced by a given scope, once', () => {
    const inPlace = { of: catalog, is: 'service' };
    expect(asked('plan notes:read email', { inPlace })).toEqual(['service', 'notes:read']);
    expect(asked('notes:read', { inPlace })).toEqual(['notes:read']);
    expect(refusal('plan other', { inPlace }).detail).toBe('beyond the client: "plan", "other"');
    expect(refusal('', { inPlace }).detail).toBe('no scope was requested');
  });

  test('that may be dropped are, if all unavailable ones may be and another one remains', () => {
    const isDropped = (name: string) => name === 'plan' || name === 'old';
    expect(asked('plan openid old notes:read', { isDropped })).toEqual(['openid', 'notes:read']);
    expect(refusal('plan openid other', { isDropped }).detail).toBe(
      'beyond the client: "plan", "other"',
    );
    expect(refusal('plan old', { isDropped }).detail).toBe('beyond the client: "plan", "old"');
    expect(refusal('', { isDropped }).detail).toBe('no scope was requested');
    expect(refusal('plan openid').detail).toBe('beyond the client: "plan"');
  });
});

describe('the scopes of a grant that still apply', () => {
  test('are those that the client is registered for and the server offers', () => {
    expect(
      scopesInForce(['notes:read', 'openid', 'gone'], ['gone', 'notes:read'], catalog),
    ).toEqual(['notes:read']);
    expect(intersectScopes(['b', 'a', 'c'], ['a', 'b'])).toEqual(['b', 'a']);
  });

  test.each<[readonly string[], readonly string[], readonly string[], readonly string[]]>([
    [['openid'], [], ['openid'], []],
    [['openid', 'notes:read'], ['notes:read'], ['openid', 'notes:read'], ['notes:read']],
    [['openid', 'notes:read'], [], ['openid'], ['notes:read']],
    [['plan', 'gone', 'notes:read'], ['notes.edit'], ['plan'], ['notes.edit', 'notes:read']],
    [
      ['plan', 'notes:read', 'email'],
      ['notes:read'],
      ['notes:read', 'email'],
      ['notes.edit', 'notes:read'],
    ],
    [[], [], [], []],
  ])(
    'from %j, with the permissions %j, are %j, and each permission is checked with the host',
    async (names, held, left, asks) => {
      const asked: string[] = [];
      const host = {
        holdsPermission: async (_: unknown, permission: string) => {
          asked.push(permission);
          return held.includes(permission);
        },
      } as Partial<CompleteHost> as CompleteHost;
      const person = { provider: 'accounts', id: '1' };
      expect(await scopesHeldBy(host, catalog, names, person)).toEqual(left);
      expect(asked).toEqual(asks);
    },
  );

  test('include one whose permission check returns 1', async () => {
    const host = {
      holdsPermission: async () => 1 as unknown as boolean,
    } as unknown as CompleteHost;
    const person = { provider: 'accounts', id: '1' };
    expect(await scopesHeldBy(host, catalog, ['plan', 'notes:read'], person)).toEqual([
      'plan',
      'notes:read',
    ]);
  });

  test.each([2, '1', 'yes', {}, [], null, undefined])(
    'do not include one whose permission check returns %j, alone or among others',
    async (answer) => {
      const host = { holdsPermission: async () => answer as boolean } as unknown as CompleteHost;
      const person = { provider: 'accounts', id: '1' };
      expect(await scopesHeldBy(host, catalog, ['plan'], person)).toEqual([]);
      expect(await scopesHeldBy(host, catalog, ['plan', 'openid', 'notes:read'], person)).toEqual([
        'openid',
      ]);
    },
  );
});

test('metadata does not list the scope for services if unverified clients read it', () => {
  const names = ['openid', 'mcp:service', 'notes:read'];
  expect(listedScopes(names, false)).toEqual(names);
  expect(listedScopes(names, true)).toEqual(['openid', 'notes:read']);
  expect(formatScope(names)).toBe('openid mcp:service notes:read');
});
