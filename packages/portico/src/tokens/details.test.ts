import { expect, test } from 'vitest';
import { collectDescriptions } from './details.ts';

test('every feature describes the details of an authorization, each for its place', () => {
  const describes = collectDescriptions([
    ({ issuer }, place) => ({ issuer, [place]: 1 }),
    () => ({ more: 2 }),
  ]);
  expect(describes({ issuer: 'a' }, 'id_token')).toEqual({ issuer: 'a', id_token: 1, more: 2 });
  expect(collectDescriptions([])({ issuer: 'a' }, 'introspection')).toEqual({});
});
