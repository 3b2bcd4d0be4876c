import { describe, expect, test } from 'vitest';
import type { Client } from '../store/client.ts';
import { DroppedScopes, type DropsScope, type UngrantableScope } from './dropped-scopes.ts';
import type { Resources } from './resource-indicators.ts';
import { createScopeCatalog } from './scopes.ts';

const API = 'https://api.example';
const catalog = createScopeCatalog({ 'notes:read': 'Read', 'notes:write': 'Write' });
const grantable = new Map([...catalog].filter(([name]) => name !== 'notes:write'));

const client = (registeredBy: Client['registeredBy'] = 'registration') =>
  ({
    registeredBy,
    scopes: ['openid', 'profile', 'notes:read', 'notes:write'],
  }) as Partial<Client> as Client;

function start(admitsUnverified: boolean, rules: readonly DropsScope[] = []) {
  const resources = {
    scopesOf: (audience: string | null) => (audience === API ? grantable : catalog),
  } as unknown as Resources;
  return new DroppedScopes({ scopes: catalog, resources, admitsUnverified }, rules);
}

/** Returns the scopes that the server drops. */
function dropped(registeredBy?: Client['registeredBy'], ...more: [string | null, boolean?]) {
  const drops = start(true).of(client(registeredBy), ...more);
  return ['openid', 'profile', 'email', 'notes:read', 'notes:write', 'unknown'].filter(drops);
}

describe('the scopes that an unverified client requests are dropped', () => {
  test('if the server offers them only to others, for another resource, or for people', () => {
    expect(dropped('registration', null)).toEqual(['openid', 'email']);
    expect(dropped('document', API)).toEqual(['openid', 'email', 'notes:write']);
    expect(dropped('document', null, true)).toEqual(['openid', 'profile', 'email']);
  });

  test('but never those of the client of an operator', () => {
    expect(dropped('operator', API, true)).toEqual([]);
  });

  test('only by features if the server admits no unverified client', () => {
    expect(start(false).of(client(), API)('openid')).toBe(false);
    expect(start(false, [() => true]).of(client(), API)('openid')).toBe(true);
  });
});

test('a feature drops a scope with exactly true or 1, and is told everything about it', () => {
  const asked: UngrantableScope[] = [];
  const answers: unknown[] = [true, 1, false, 0, 'yes', Promise.resolve(true)];
  const rule = (scope: UngrantableScope) => {
    asked.push(scope);
    return answers[Number(scope.name)] as boolean;
  };
  const drops = start(true, [() => false, rule]).of(client(), API);
  expect(answers.map((_, index) => drops(String(index)))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(asked[0]).toEqual({ name: '0', client: client(), catalog, grantable, forItself: false });
});
