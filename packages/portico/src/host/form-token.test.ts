import { expect, test } from 'vitest';
import type { Visitor } from './accounts.ts';
import { formToken, isFormToken } from './form-token.ts';

const visitor = (browserSecret: string) => ({ browserSecret }) as unknown as Visitor;
const ADA = visitor('a'.repeat(22));

test('a form is accepted only from the browser, and for the purpose, that it was made for', () => {
  const token = formToken(ADA, 'revoke', 'one');
  expect(isFormToken(token, ADA, 'revoke', 'one')).toBe(true);
  expect(isFormToken(token, visitor('b'.repeat(22)), 'revoke', 'one')).toBe(false);
  expect(isFormToken(token, ADA, 'revoke', 'two')).toBe(false);
  expect(isFormToken(token, ADA, 'revoke')).toBe(false);
  expect(isFormToken(token, ADA, 'revokeone')).toBe(false);
  for (const sent of [undefined, '', 'Stryker was here!', `${token}x`, token.slice(1)])
    expect(isFormToken(sent, ADA, 'revoke', 'one')).toBe(false);
});
