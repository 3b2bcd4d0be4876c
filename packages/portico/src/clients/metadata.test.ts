import { expect, test } from 'vitest';
import { GRANT_TYPES } from '../../../../test/support/grant-types.ts';
import { applicationTypeFor, grantsNamed, saysNothing, scopesNamed } from './metadata.ts';

test.each([
  [undefined, ['authorization_code']],
  [[], []],
  [
    ['refresh_token', 'implicit', 'authorization_code'],
    ['authorization_code', 'refresh_token'],
  ],
  [['client_credentials'], []],
])('the named grants %j become %j', (named, grants) => {
  expect(grantsNamed(named, GRANT_TYPES.registrable(true))).toEqual(grants);
});

test.each([
  [undefined, ['a', 'b', 'c']],
  ['', ['a', 'b', 'c']],
  ['  ', ['a', 'b', 'c']],
  ['offline_access', ['a', 'b', 'c']],
  ['c  a c d offline_access', ['c', 'a']],
  ['d', []],
])('the named scope %j becomes %j', (scope, names) => {
  expect(scopesNamed(scope, ['a', 'b', 'c'])).toEqual(names);
});

test.each([
  ['web', ['http://localhost/'], 'web'],
  ['native', ['https://a.example/'], 'native'],
  [undefined, ['https://a.example/', 'HTTPS://b.example/'], 'web'],
  [undefined, ['https://a.example/', 'http://localhost/'], 'native'],
  [undefined, ['httpsx://a.example/'], 'native'],
  [undefined, ['com.example:https://a.example/'], 'native'],
] as const)(
  'a client with the application_type %j and the redirect URIs %j is %s',
  (named, uris, type) => {
    expect(applicationTypeFor(named, uris)).toBe(type);
  },
);

test.each([undefined, null, '', []])('a field with the value %j is treated as missing', (value) => {
  expect(saysNothing(value)).toBe(true);
});

test.each([0, false, 'a', ['a'], {}, { length: 0 }])(
  'a field with the value %j is not treated as missing',
  (value) => {
    expect(saysNothing(value)).toBe(false);
  },
);
