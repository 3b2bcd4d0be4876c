import { describe, expect, test } from 'vitest';
import type { OAuthServerConfig } from '../config.ts';
import type { Contribution, Feature } from '../feature.ts';
import type { GrantType } from '../grants/grant-types.ts';
import {
  collectDeliveries,
  collectGrantTypes,
  collectMetadata,
  collectReading,
  collectResponseModes,
  findOnly,
  requireOwnEndpoints,
  requireOwnMembers,
  type Started,
} from './feature-conflicts.ts';

const CONFIG = {} as OAuthServerConfig;
const started = (name: string, adds: Contribution, feature: Partial<Feature> = {}): Started => ({
  ...adds,
  feature: { name, ...feature },
});

describe('an endpoint of a feature', () => {
  const feature = (
    name: string,
    ...endpoints: readonly (readonly [string, string])[]
  ): Feature => ({
    name,
    endpoints: endpoints.map(([each, path]) => ({ name: each, path, methods: ['POST'] })),
  });

  test('has a name of the server or of the feature, and can share its path with another', () => {
    expect(() =>
      requireOwnEndpoints([
        { name: 'without' },
        feature('own', ['oauth_server_own', '/a'], ['own_more', '/a']),
        feature('other', ['other_more', '/b']),
      ]),
    ).not.toThrow();
  });

  test.each(['more', 'ow', 'x_oauth_server_own', 'xown_more', 'ownmore'])(
    'cannot have the name %s',
    (name) => {
      expect(() => requireOwnEndpoints([feature('own', [name, '/a'])])).toThrow(
        `The feature own adds the endpoint ${name}; its name must begin with own_`,
      );
    },
  );

  test('has a name that no other endpoint has', () => {
    const problem = (name: string) => `adds the endpoint ${name}, which already exists`;
    expect(() => requireOwnEndpoints([feature('own', ['oauth_server_token', '/a'])])).toThrow(
      problem('oauth_server_token'),
    );
    const twice = feature('own', ['own_more', '/a'], ['own_more', '/b']);
    expect(() => requireOwnEndpoints([twice])).toThrow(problem('own_more'));
  });

  test('has a path that no endpoint outside the feature has', () => {
    const problem = (path: string) => `adds an endpoint at ${path}, which another endpoint`;
    expect(() => requireOwnEndpoints([feature('own', ['own_more', '/oauth/token'])])).toThrow(
      problem('/oauth/token'),
    );
    expect(() =>
      requireOwnEndpoints([
        feature('own', ['own_more', '/a']),
        feature('other', ['other_a', '/a']),
      ]),
    ).toThrow(`The feature other ${problem('/a')}`);
  });
});

test('only one feature can provide a part', () => {
  const one = [{ name: 'one' }, { binding: 1 }] as const;
  const other = [{ name: 'other' }, { binding: 2 }] as const;
  const without = [{ name: 'without' }, {}] as const;
  const find = (...all: readonly (readonly [Feature, { readonly binding?: number }])[]) =>
    findOnly(all, 'binding');
  expect([find(), find(without), find(without, one)]).toEqual([null, null, { binding: 1 }]);
  expect(() => find(one, without, other)).toThrow(
    'oauth_server:one: is also provided by the feature other (binding); remove one of the two ' +
      'features',
  );
});

describe('a grant type of a feature', () => {
  const type = (name: string, rules: object = {}) =>
    ({ name, begins: 'person', clients: 'any', ...rules }) as GrantType;
  const collect = (...types: readonly GrantType[]) =>
    collectGrantTypes([started('none', {}), started('own', { grants: types })]);

  test('comes after those of the server', () => {
    expect(
      collect(type('urn:a'), type('!'), type('~'.repeat(255))).map(({ name }) => name),
    ).toEqual([
      'authorization_code',
      'refresh_token',
      'client_credentials',
      'urn:a',
      '!',
      '~'.repeat(255),
    ]);
  });

  test.each(['', 'two words', 'urn:a ', ' urn:a', 'urn:é', 'a'.repeat(256), 'urn:a\n'])(
    'cannot have the name %j',
    (name) => {
      expect(() => collect(type(name))).toThrow('its name must be a URI');
    },
  );

  test('has a name that does not exist yet', () => {
    for (const name of ['introspection', 'refresh_token'])
      expect(() => collect(type(name))).toThrow(
        `The feature own adds the grant type ${name}, which already exists`,
      );
    expect(() => collect(type('urn:a'), type('urn:a'))).toThrow('which already exists');
  });

  test('says who begins the access, and which clients can use it', () => {
    for (const begins of ['person', 'organization', 'client', null])
      expect(() => collect(type('urn:a', { begins, clients: 'confidential' }))).not.toThrow();
    for (const begins of [undefined, '', 'server'])
      expect(() => collect(type('urn:a', { begins }))).toThrow(
        "The grant type urn:a of own must have begins: 'person', 'organization', 'client' or null",
      );
    for (const clients of [undefined, 'public'])
      expect(() => collect(type('urn:a', { clients }))).toThrow(
        "The grant type urn:a of own must have clients: 'any' or 'confidential'",
      );
    for (const begins of ['person', 'organization', null])
      expect(() => collect(type('urn:a', { begins }))).not.toThrow();
    expect(() => collect(type('urn:a', { begins: 'client' }))).toThrow(
      "The grant type urn:a of own must have clients: 'confidential', because it has begins: " +
        "'client'",
    );
  });
});

describe('a check that a feature replaces', () => {
  const check = () => null;
  const replacing = (name: string, ...checks: readonly string[]) =>
    started(name, {
      requestChecks: Object.fromEntries(checks.map((each) => [each, check])),
    } as unknown as Contribution);

  test('exists, and is replaced once', () => {
    expect(collectReading([started('none', {}), replacing('own', 'prompt')])).toEqual({
      checks: { prompt: check },
      parameters: [],
    });
    expect(() => collectReading([replacing('own', 'unknown')])).toThrow(
      'The feature own replaces the check unknown, which does not exist',
    );
    expect(() => collectReading([replacing('one', 'prompt'), replacing('own', 'prompt')])).toThrow(
      'The feature own replaces the check prompt, which another feature replaces',
    );
  });
});

test('each request parameter that features add is listed once', () => {
  const { parameters } = collectReading([
    started('one', { requestParameters: ['a', 'b'] }),
    started('none', {}),
    started('own', { requestParameters: ['b', 'c'] }),
  ]);
  expect(parameters).toEqual(['a', 'b', 'c']);
});

describe('messages that a feature delivers', () => {
  const deliver = () => Promise.reject(new Error('It is never called'));
  const delivering = (name: string, sends: boolean | undefined, ...kinds: readonly string[]) =>
    started(
      name,
      { deliveries: Object.fromEntries(kinds.map((kind) => [kind, deliver])) },
      sends === undefined ? {} : { sendsMessages: () => sends },
    );
  const collect = (...all: readonly Started[]) => collectDeliveries(all, CONFIG);

  test('have a kind that no other feature delivers', () => {
    expect(collect(started('none', {}), delivering('one', true, 'a', 'b'))).toEqual({
      a: deliver,
      b: deliver,
    });
    expect(() => collect(delivering('one', true, 'a'), delivering('own', true, 'a'))).toThrow(
      'The feature own delivers a, which another feature also delivers; remove one of them',
    );
  });

  test('are declared, so that the tables for them exist', () => {
    for (const sends of [undefined, false]) {
      expect(() => collect(delivering('own', sends, 'a'))).toThrow(
        'The feature own delivers messages, so its sendsMessages must return true',
      );
      expect(collect(delivering('own', sends))).toEqual({});
    }
  });
});

test('a metadata member has one source', () => {
  const adding = (name: string, metadata: object) =>
    started(name, { metadata } as unknown as Contribution);
  expect(
    collectMetadata([adding('one', { a: 1 }), started('none', {}), adding('own', { b: 2 })]),
  ).toEqual({ a: 1, b: 2 });
  expect(() => collectMetadata([adding('one', { a: 1 }), adding('own', { a: 2 })])).toThrow(
    'The feature own adds the metadata member a, which another feature also adds',
  );
  expect(() => requireOwnMembers({ a: 1 }, { b: 1 })).not.toThrow();
  expect(() => requireOwnMembers({ a: 1, b: 2 }, { b: 1 })).toThrow(
    'A feature adds the metadata member b, which the server already has',
  );
});

test('a response mode has one source', () => {
  const adding = (name: string, ...modes: readonly string[]) =>
    started(name, { responseModes: modes.map((mode) => ({ name: mode })) } as never);
  const names = (...all: readonly Started[]) => collectResponseModes(all).map(({ name }) => name);
  expect(names(adding('one', 'a', 'b'), started('none', {}), adding('own', 'c'))).toEqual([
    'a',
    'b',
    'c',
  ]);
  expect(() => names(adding('own', 'query'))).toThrow(
    'The feature own adds the response_mode query, which already exists',
  );
  expect(() => names(adding('one', 'a'), adding('own', 'a'))).toThrow('which already exists');
});
