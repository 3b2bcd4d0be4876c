import { describe, expect, test } from 'vitest';
import { personProblem, readProfile, samePerson, type UserInterface } from './person.ts';

const ADA = { provider: 'users', id: '1' };

describe('a reference to a person', () => {
  test.each([
    ADA,
    { provider: 'a'.repeat(64), id: 'b'.repeat(255) },
    { provider: '𝄞'.repeat(64), id: '𝄞'.repeat(255) },
    { provider: ' ', id: '\n' },
  ])('can be %j', (person) => expect(personProblem(person)).toBeNull());

  test.each([
    ['provider', '', 'must not be empty'],
    ['id', '', 'must not be empty'],
    ['id', 'a\0', 'must be well-formed Unicode without NUL'],
    ['id', '\uD834', 'must be well-formed Unicode without NUL'],
    ['provider', 'a'.repeat(65), 'must have at most 64 characters'],
    ['provider', '𝄞'.repeat(65), 'must have at most 64 characters'],
    ['id', 'a'.repeat(256), 'must have at most 255 characters'],
    ['id', 1, 'must be a text, but its type is number'],
    ['id', undefined, 'must be a text, but its type is undefined'],
    ['provider', null, 'must be a text, but its type is object'],
  ])('cannot have the %s %j', (what, value, problem) => {
    expect(personProblem({ ...ADA, [what]: value })).toBe(`The ${what} of a person ${problem}`);
  });

  test('cannot be missing', () => {
    for (const person of [undefined, null])
      expect(personProblem(person as never)).toBe(
        'The provider of a person must be a text, but its type is undefined',
      );
  });

  test('is the same only if both values are the same', () => {
    expect(samePerson(ADA, { ...ADA })).toBe(true);
    expect(samePerson(ADA, { ...ADA, id: '2' })).toBe(false);
    expect(samePerson(ADA, { ...ADA, provider: 'staff' })).toBe(false);
  });
});

test('a profile is what the account returns, even a promise that is rejected later', async () => {
  const profile = { name: 'Ada' };
  expect(readProfile({ getProfile: () => profile } as UserInterface)).toBe(profile);
  const { promise, reject } = Promise.withResolvers<never>();
  let isHandled = false;
  const noting = Object.assign(promise, {
    catch(listener: () => void) {
      isHandled = true;
      return Promise.prototype.catch.call(promise, listener);
    },
  });
  const user = { getProfile: () => noting } as unknown as UserInterface;
  expect([readProfile(user), isHandled]).toEqual([noting, true]);
  reject(new Error('The profile cannot be read'));
  await expect(promise).rejects.toThrow('cannot be read');
});
