import { describe, expect, test } from 'vitest';
import { checkSite } from './sites.ts';

const refusal = (message: string) =>
  expect.objectContaining({ name: 'RegistrationError', message }) as Error;

describe('the site of a client', () => {
  test('is stored as a normalized URL', () => {
    expect(checkSite('https://CLIENT.example')).toBe('https://client.example/');
    const longest = `https://client.example/${'a'.repeat(2025)}`;
    expect(longest).toHaveLength(2048);
    expect(checkSite(longest)).toBe(longest);
    expect(() => checkSite(`${longest}a`)).toThrow(
      refusal('The website of the client is longer than 2048 characters'),
    );
  });

  test.each([
    'none',
    'http://client.example',
    'https://user@client.example',
    'https://:password@client.example',
  ])('cannot be %s', (address) => {
    expect(() => checkSite(address)).toThrow(
      refusal('The website of the client must be an https URL without a user name or password'),
    );
  });
});
