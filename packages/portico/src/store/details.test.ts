import { expect, test } from 'vitest';
import { givenBy, givenDetails, givenFor } from './given-access.ts';
import { goesBackTo, priorDetails } from './prior-consent.ts';

test('access from an organization names its issuer and the account there', () => {
  const account = { issuer: 'https://issuer.example', tenant: 'one', subject: 'ada' };
  const details = givenDetails(account);
  expect(details).toEqual({
    given_by: 'https://issuer.example',
    given_tenant: 'one',
    given_subject: 'ada',
  });
  expect([givenBy(details), givenFor(details)]).toEqual(['https://issuer.example', account]);
  const withoutTenant = { ...account, tenant: null };
  expect(givenFor(givenDetails(withoutTenant))).toEqual(withoutTenant);
});

test('details without an issuer are of access that the person granted', () => {
  for (const details of [undefined, {}, { given_by: 1 }, { prior: 'a' }])
    expect(givenBy(details)).toBeNull();
  const malformed = { given_by: 1, given_tenant: 2, given_subject: 3 };
  for (const details of [{}, malformed])
    expect(givenFor(details)).toEqual({ issuer: '', tenant: null, subject: '' });
});

test('remembered access names the lowest earlier authorization in its chain', () => {
  const of = (id: string, details?: Readonly<Record<string, unknown>>) =>
    priorDetails({ id, details, applies: async () => true });
  for (const id of ['b', '9']) expect(of(id)).toEqual({ prior: id });
  expect(of('b', { given_by: 'issuer' })).toEqual({ prior: 'b' });
  expect(of('b', { prior: 'a' })).toEqual({ prior: 'a' });
  // The clock of another process may be ahead.
  expect(of('b', { prior: 'c' })).toEqual({ prior: 'b' });
});

test('remembered access goes back to every authorization from the lowest one on', () => {
  const found = ['a', 'b', 'c'].filter((newest) => goesBackTo(newest, { prior: 'b' }));
  expect(found).toEqual(['b', 'c']);
  for (const details of [undefined, {}, { given_by: 'issuer' }])
    for (const newest of ['z', '9']) expect(goesBackTo(newest, details)).toBe(false);
});
