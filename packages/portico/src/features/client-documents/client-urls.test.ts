import { describe, expect, test } from 'vitest';
import { isHostPattern, type DocumentHosts } from '../../http/outbound/hosts.ts';
import { urlRefusal } from './client-urls.ts';

const refusal = (clientId: string, config: boolean | DocumentHosts = true) =>
  urlRefusal(clientId, config);

describe('a client id that is the URL of a document', () => {
  test.each([
    'https://client.example/oauth/client.json',
    'https://client.example/',
    'https://client.example/@assistant',
    'https://client.example:8443/client.json',
    'https://client.example/client?version=2',
    'https://xn--bcher-kva.example/client.json',
  ])('is accepted: %s', (clientId) => {
    expect(refusal(clientId)).toBeNull();
  });

  test.each([
    ['has no path', 'https://client.example'],
    ['has a fragment', 'https://client.example/client.json#one'],
    ['has an empty fragment', 'https://client.example/client.json#'],
    ['carries credentials', 'https://ada:secret@client.example/client.json'],
    ['carries a name', 'https://ada@client.example/client.json'],
    ['carries nothing before an @', 'https://@client.example/client.json'],
    ['has a dot segment', 'https://client.example/a/../client.json'],
    ['has a dot segment', 'https://client.example/./client.json'],
    ['has a dot segment, encoded', 'https://client.example/a/%2e%2e/client.json'],
    ['names its default port', 'https://client.example:443/client.json'],
    ['is written in capitals', 'https://CLIENT.example/client.json'],
    ['has backslashes', 'https://client.example\\client.json'],
    ['has a space', 'https://client.example/client json'],
    ['has a line break', 'https://client.example/client\n.json'],
    ['has a NUL', 'https://client.example/client\0.json'],
    ['is not ASCII', 'https://bücher.example/client.json'],
    ['has three slashes', 'https:///client.example/client.json'],
    ['has a host with a dot at its end', 'https://client.example./client.json'],
    ['is too long', `https://client.example/${'a'.repeat(233)}`],
    ['is not a URL', 'https://'],
    ['is not a URL', 'https://client.example:port/client.json'],
    ['names an IPv4 address', 'https://127.0.0.1/client.json'],
    ['names a decimal address', 'https://2130706433/client.json'],
    ['names an octal address', 'https://0177.0.0.1/client.json'],
    ['names a hexadecimal address', 'https://0x7f000001/client.json'],
    ['names a short address', 'https://127.1/client.json'],
    ['names an address with encoded dots', 'https://127%2e0%2e0%2e1/client.json'],
    ['names an address in wide digits', 'https://１２７.0.0.1/client.json'],
    ['names an IPv6 address', 'https://[::1]/client.json'],
    ['names a mapped address', 'https://[::ffff:127.0.0.1]/client.json'],
    ['names a mapped address', 'https://[::ffff:7f00:1]/client.json'],
  ])('is refused if it %s: %j', (_, clientId) => {
    expect(refusal(clientId)).toEqual(expect.any(String));
  });

  test.each([
    'http://client.example/client.json',
    'HTTPS://client.example/client.json',
    'a'.repeat(32),
    '',
  ])('must be a lower-case https URL, and is otherwise an ordinary client id: %j', (clientId) => {
    expect([refusal(clientId), refusal(clientId, false)]).toEqual([null, null]);
  });

  test('is an unknown client while documents are disabled', () => {
    expect(refusal('https://client.example/client.json', false)).toContain('is off');
  });

  test.each<[clientId: string, config: boolean | DocumentHosts, allowed: boolean]>([
    ['https://client.example/a', {}, true],
    ['https://client.example/a', { allowed_hosts: ['client.example'] }, true],
    ['https://client.example:8443/a', { allowed_hosts: ['client.example'] }, true],
    ['https://other.example/a', { allowed_hosts: ['client.example'] }, false],
    ['https://client.example/a', { allowed_hosts: [] }, false],
    ['https://app.client.example/a', { allowed_hosts: ['client.example'] }, false],
    ['https://app.client.example/a', { allowed_hosts: ['*.client.example'] }, true],
    ['https://a.b.client.example/a', { allowed_hosts: ['*.client.example'] }, true],
    ['https://client.example/a', { allowed_hosts: ['*.client.example'] }, false],
    [
      'https://evilclient.example/a',
      { allowed_hosts: ['*.client.example', 'client.example'] },
      false,
    ],
    ['https://client.example/a', { denied_hosts: ['client.example'] }, false],
    [
      'https://client.example/a',
      { allowed_hosts: ['client.example'], denied_hosts: ['client.example'] },
      false,
    ],
    ['https://client.example:8443/a', { denied_hosts: ['client.example'] }, false],
    ['https://app.client.example/a', { denied_hosts: ['client.example'] }, true],
    ['https://app.client.example/a', { denied_hosts: ['*.client.example'] }, false],
  ])('%s with the configuration %j is allowed: %s', (clientId, config, allowed) => {
    expect(refusal(clientId, config) === null).toBe(allowed);
  });

  test.each([
    ['example.com', true],
    ['*.example.com', true],
    ['localhost', true],
    ['Example.com', false],
    ['https://example.com', false],
    ['example.com/', false],
    ['example.com:443', false],
    ['*', false],
    ['a.*.example.com', false],
    ['.example.com', false],
    ['example.com.', false],
    ['bücher.example', false],
    ['', false],
  ])('may match the configured host pattern %j: %s', (pattern, accepted) => {
    expect(isHostPattern(pattern)).toBe(accepted);
  });
});
