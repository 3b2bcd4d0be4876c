import { expect, test } from 'vitest';
import { admitsClient, getTokens, type ClientSource } from './client-source.ts';

const URL_OF_IT = 'https://client.example/client.json';

test.each<[id: string, source: Partial<ClientSource> | null, isAdmitted: boolean]>([
  ['0123456789abcdef0123456789abcdef', null, true],
  [URL_OF_IT, null, false],
  [URL_OF_IT, { refusal: () => 'its host is denied' }, false],
  [URL_OF_IT, { refusal: () => null }, true],
])('the client id %s with the client source %j is admitted: %s', (id, source, isAdmitted) => {
  expect(admitsClient(id, source as ClientSource | null)).toBe(isAdmitted);
});

test('the initial access tokens are those of the first way to register that has some', () => {
  const arrival = (command: string | null) => ({
    says: 'clients register themselves',
    as: 'by themselves',
    ...(command === null ? {} : { tokens: { says: 'With a token.', command } }),
  });
  expect(getTokens([])).toBeNull();
  expect(getTokens([arrival(null)])).toBeNull();
  expect(getTokens([arrival(null), arrival('one'), arrival('two')])?.command).toBe('one');
});
