import { describe, expect, test } from 'vitest';
import { answerGoesTo, isRegistered, redirectUriProblem, redirectWith } from './redirect-uris.ts';

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

// @shows RFC8252-7.3
test.each([
  'http://127.0.0.1:49152/callback?from=1',
  'http://127.0.0.1:1/callback?from=1',
  'http://127.0.0.1:65535/callback?from=1',
  // The port of http itself.
  'http://127.0.0.1/callback?from=1',
  'http://[::1]:49152/callback',
  'http://localhost:49152/callback',
  'http://localhost:49152',
])("a native application's loopback address matches on any port, a web application's does not: %s", (uri) => {
  expect(isRegistered(native, uri)).toBe(true);
  expect(isRegistered(web, uri)).toBe(false);
});

// @shows RFC8252-8.10
test.each(REGISTERED)('the registered URI matches itself, whatever the type: %s', (uri) => {
  expect(isRegistered(native, uri)).toBe(true);
  expect(isRegistered(web, uri)).toBe(true);
});

// @shows RFC8252-7.3, RFC8252-8.10
test.each([
  ['credentials behind the port', 'http://127.0.0.1:1@evil.example/callback?from=1'],
  ['credentials before the host', 'http://127.0.0.1@evil.example:80/callback?from=1'],
  ['credentials of any kind', 'http://user@127.0.0.1:49152/callback?from=1'],
  ['the host as a part of another', 'http://127.0.0.1.evil.example:49152/callback?from=1'],
  ['the host as a part of another, too', 'http://localhost.evil.example:49152/callback'],
  ['a backslash', 'http://127.0.0.1:49152\\@evil.example/callback?from=1'],
  ['a backslash for a slash', 'http://127.0.0.1:49152\\callback?from=1'],
  ['an uppercase scheme', 'HTTP://127.0.0.1:49152/callback?from=1'],
  ['an uppercase host', 'http://LOCALHOST:49152/callback'],
  ['another name of the host', 'http://localhost:49152/callback?from=1'],
  ['another address of the machine', 'http://127.0.0.2:49152/callback?from=1'],
  ['an address in short', 'http://127.1:49152/callback?from=1'],
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
  ['a port of other digits', 'http://127.0.0.1:４９１５２/callback?from=1'],
  ['a space', 'http://127.0.0.1: 49152/callback?from=1'],
  ['a line break before', '\nhttp://127.0.0.1:49152/callback?from=1'],
  ['a line break behind', 'http://127.0.0.1:49152/callback?from=1\n'],
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
  ['a slash for nothing', 'http://localhost:49152/'],
  ['another port of an https address', 'https://app.example:8443/callback'],
  ['another path of a private-use scheme', 'com.example.app:/callback2'],
  ['a private-use scheme with a host', 'com.example.app://callback'],
  ['an uppercase private-use scheme', 'COM.EXAMPLE.APP:/callback'],
  ['another private-use scheme', 'com.example.apps:/callback'],
])('everything else is compared exactly: %s', (_, uri) => {
  expect(isRegistered(native, uri)).toBe(false);
  expect(isRegistered(web, uri)).toBe(false);
});

describe('what a native application may register', () => {
  // @shows RFC8252-7.1, RFC8252-7.2, RFC8252-7.3
  test.each([...REGISTERED, 'com.example.app://host/callback', 'com.example.app:callback', 'a.b-c+d.e1:/'])(
    '%s',
    (uri) => {
      expect(redirectUriProblem(uri, 'native')).toBeNull();
    },
  );

  // @shows RFC8252-8.4
  test.each([
    ['a scheme without a dot', 'myapp://callback', 'private-use scheme with a dot'],
    ['a script', 'javascript:alert(1)', 'private-use scheme with a dot'],
    ['data', 'data:text/html,x', 'private-use scheme with a dot'],
    ['a file', 'file:///etc/passwd', 'private-use scheme with a dot'],
    ['a dot in the path alone', 'myapp:/com.example', 'private-use scheme with a dot'],
    ['an uppercase scheme', 'COM.example.app:/callback', 'private-use scheme with a dot'],
    ['a scheme that begins with a dot', '.com.example:/callback', 'is not an absolute URL'],
    ['an empty part of a scheme', 'com..example:/callback', 'private-use scheme with a dot'],
    ['a scheme and nothing', 'com.example.app:', 'private-use scheme with a dot'],
    ['plain http', 'http://app.example/callback', 'http is for loopback only'],
    ['another address of the machine', 'http://127.0.0.2/callback', 'http is for loopback only'],
    ['an uppercase host', 'http://LOCALHOST/callback', 'http is for loopback only'],
    ['port 0', 'http://127.0.0.1:0/callback', 'http is for loopback only'],
    ['a backslash', 'http:\\\\127.0.0.1\\callback', 'has the character U+005C'],
    ['a single slash', 'http:/127.0.0.1/callback', 'http is for loopback only'],
    ['credentials', 'http://user@127.0.0.1/callback', 'carries credentials'],
    ['credentials of a private-use scheme', 'com.example.app://user:pass@host/', 'carries credentials'],
    ['a fragment', 'com.example.app:/callback#x', 'has a fragment'],
    ['a wildcard', 'com.example.app:/*', 'contains a wildcard'],
    ['a parameter of the answer', 'com.example.app:/callback?code=1', 'has the parameter code'],
    ['a control character', 'com.example.app:/call\nback', 'has the character U+000A'],
    ['a space', 'com.example.app:/call back', 'has the character U+0020'],
  ])('not %s', (_, uri, problem) => {
    expect(redirectUriProblem(uri, 'native')).toContain(problem);
  });

  test.each(['com.example.app:/callback', 'com.example.app://host/callback'])(
    'a web application has no private-use scheme: %s',
    (uri) => {
      expect(redirectUriProblem(uri)).toBe('is not an absolute https URL');
    },
  );
});

test.each([
  ['http://app.example/callback', 'http is for loopback'],
  // A parser takes these for https://user@app.example/ and https://:secret@app.example/.
  ['https:user@app.example/', 'carries credentials'],
  ['https::secret@app.example/', 'carries credentials'],
])('a web application cannot register %s', (uri, problem) => {
  expect(redirectUriProblem(uri)).toContain(problem);
});

test.each([
  ['com.example.app:/callback', 'com.example.app:/callback?code=c'],
  ['com.example.app:callback?a=b', 'com.example.app:callback?a=b&code=c'],
  ['http://127.0.0.1:1/callback', 'http://127.0.0.1:1/callback?code=c'],
  ['https://app.example/callback?', 'https://app.example/callback?code=c'],
  ['https://app.example/callback?a=b&', 'https://app.example/callback?a=b&code=c'],
  ['https://app.example/callback?next=/x?', 'https://app.example/callback?next=/x?&code=c'],
  ['https://app.example/callback??', 'https://app.example/callback??&code=c'],
])('response parameters are added to the query of %s, without those that are null', (uri, answered) => {
  expect(redirectWith(uri, { code: 'c', state: undefined })).toBe(answered);
});

test.each([
  ['https://app.example/callback', 'app.example'],
  ['http://127.0.0.1:1/callback', '127.0.0.1:1'],
  ['com.example.app:/callback', 'com.example.app:'],
  // The host of a private-use scheme is whatever its application says.
  ['com.example.app://bank.example/callback', 'com.example.app:'],
])('people are told that the response to %s goes to %s', (uri, told) => {
  expect(answerGoesTo(uri)).toBe(told);
});
