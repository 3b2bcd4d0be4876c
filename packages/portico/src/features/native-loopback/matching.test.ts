import { expect, test } from 'vitest';
import { mayRedirectWith } from '../../clients/redirect-uris.ts';
import { isOnAnotherPort } from './matching.ts';

const REGISTERED = [
  'http://127.0.0.1:33418/callback?from=1',
  'http://[::1]/callback',
  'http://localhost:8080/callback',
  'http://localhost:8080',
  'https://app.example/callback',
  'com.example.app:/callback',
];
const native = { redirectUris: REGISTERED, applicationType: 'native' } as const;
const web = { redirectUris: REGISTERED, applicationType: 'web' } as const;
const isRegistered = mayRedirectWith([isOnAnotherPort]);

// @shows RFC8252-7.3
test.each([
  'http://127.0.0.1:49152/callback?from=1',
  'http://127.0.0.1:1/callback?from=1',
  'http://127.0.0.1:65535/callback?from=1',
  // Port 80 is the default port of http, so URL parsers drop it.
  'http://127.0.0.1/callback?from=1',
  'http://[::1]:49152/callback',
  'http://localhost:49152/callback',
  'http://localhost:49152',
])(
  'a loopback redirect URI matches on any port for a native application, not for a web one: %s',
  (uri) => {
    expect(isRegistered(native, uri)).toBe(true);
    expect(isRegistered(web, uri)).toBe(false);
  },
);

// @shows RFC8252-8.10
test.each(REGISTERED)(
  'a registered redirect URI matches itself for every application type: %s',
  (uri) => {
    expect(isRegistered(native, uri)).toBe(true);
    expect(isRegistered(web, uri)).toBe(true);
  },
);

// @shows RFC8252-7.3, RFC8252-8.10
test.each([
  ['credentials after the port', 'http://127.0.0.1:1@evil.example/callback?from=1'],
  ['credentials before the host', 'http://127.0.0.1@evil.example:80/callback?from=1'],
  ['credentials of any kind', 'http://user@127.0.0.1:49152/callback?from=1'],
  [
    'the address at the start of another host',
    'http://127.0.0.1.evil.example:49152/callback?from=1',
  ],
  ['localhost at the start of another host', 'http://localhost.evil.example:49152/callback'],
  ['a backslash', 'http://127.0.0.1:49152\\@evil.example/callback?from=1'],
  ['a backslash in place of a slash', 'http://127.0.0.1:49152\\callback?from=1'],
  ['an uppercase scheme', 'HTTP://127.0.0.1:49152/callback?from=1'],
  ['an uppercase host', 'http://LOCALHOST:49152/callback'],
  ['another name of the host', 'http://localhost:49152/callback?from=1'],
  ['another address of the machine', 'http://127.0.0.2:49152/callback?from=1'],
  ['a shortened address', 'http://127.1:49152/callback?from=1'],
  ['an address as one number', 'http://2130706433:49152/callback?from=1'],
  ['an address in octal', 'http://0177.0.0.1:49152/callback?from=1'],
  ['an encoded host', 'http://%31%32%37.0.0.1:49152/callback?from=1'],
  ['an encoded name', 'http://local%68ost:49152/callback'],
  ['a longer form of ::1', 'http://[0:0:0:0:0:0:0:1]:49152/callback'],
  ['a mapped address', 'http://[::ffff:127.0.0.1]:49152/callback?from=1'],
  ['::1 without brackets', 'http://::1:49152/callback'],
  ['a dot at the end of the name', 'http://localhost.:49152/callback'],
  ['port 0', 'http://127.0.0.1:0/callback?from=1'],
  ['an empty port', 'http://127.0.0.1:/callback?from=1'],
  ['a leading zero', 'http://127.0.0.1:08080/callback?from=1'],
  ['a port too large', 'http://127.0.0.1:65536/callback?from=1'],
  ['a port much too large', 'http://127.0.0.1:4294967376/callback?from=1'],
  ['a port with a sign', 'http://127.0.0.1:+8080/callback?from=1'],
  ['a port in wide digits', 'http://127.0.0.1:４９１５２/callback?from=1'],
  ['a space', 'http://127.0.0.1: 49152/callback?from=1'],
  ['a line break at the start', '\nhttp://127.0.0.1:49152/callback?from=1'],
  ['a line break at the end', 'http://127.0.0.1:49152/callback?from=1\n'],
  ['a tab inside', 'http://127.0.0.1:49152/call\tback?from=1'],
  ['https', 'https://127.0.0.1:49152/callback?from=1'],
  ['no scheme', '//127.0.0.1:49152/callback?from=1'],
  ['another path', 'http://127.0.0.1:49152/callback/?from=1'],
  ['a dot segment', 'http://127.0.0.1:49152/x/../callback?from=1'],
  ['an encoded path', 'http://127.0.0.1:49152/c%61llback?from=1'],
  ['no query', 'http://127.0.0.1:49152/callback'],
  ['another query', 'http://127.0.0.1:49152/callback?from=2'],
  ['a longer query', 'http://127.0.0.1:49152/callback?from=1&to=2'],
  ['a fragment', 'http://127.0.0.1:49152/callback?from=1#x'],
  ['a slash after the host', 'http://localhost:49152/'],
  ['another port of an https address', 'https://app.example:8443/callback'],
  ['another path of a private-use scheme', 'com.example.app:/callback2'],
  ['a private-use scheme with a host', 'com.example.app://callback'],
  ['an uppercase private-use scheme', 'COM.EXAMPLE.APP:/callback'],
  ['another private-use scheme', 'com.example.apps:/callback'],
])('everything except the loopback port of a redirect URI is compared exactly: %s', (_, uri) => {
  expect(isRegistered(native, uri)).toBe(false);
  expect(isRegistered(web, uri)).toBe(false);
});
