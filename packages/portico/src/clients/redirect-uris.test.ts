import { describe, expect, test } from 'vitest';
import { RegistrationError } from '../errors.ts';
import {
  answerGoesTo,
  checkRedirectUris,
  loopbackParts,
  type MayRedirect,
  mayRedirectWith,
  redirectUriProblem,
  redirectWith,
} from './redirect-uris.ts';

const REGISTERED = [
  'http://127.0.0.1:33418/callback?from=1',
  'http://[::1]/callback',
  'http://localhost:8080/callback',
  'http://localhost:8080',
  'https://app.example/callback',
  'com.example.app:/callback',
];
test('a redirect URI must match a registered one character by character', () => {
  const isRegistered = mayRedirectWith([]);
  const client = { redirectUris: REGISTERED, applicationType: 'native' } as const;
  expect(REGISTERED.filter((uri) => !isRegistered(client, uri))).toEqual([]);
  expect(isRegistered(client, 'http://localhost:8081/callback')).toBe(false);
  expect(isRegistered(client, 'https://app.example/callback/')).toBe(false);
});

describe('the redirect URI of a native application', () => {
  // @shows RFC8252-7.1, RFC8252-7.2, RFC8252-7.3
  test.each([
    ...REGISTERED,
    'com.example.app://host/callback',
    'com.example.app:callback',
    'a.b-c+d.e1:/',
  ])('is accepted: %s', (uri) => {
    expect(redirectUriProblem(uri, 'native')).toBeNull();
  });

  // @shows RFC8252-8.4
  test.each([
    ['a scheme without a dot', 'myapp://callback', 'private-use scheme with a dot'],
    ['a script', 'javascript:alert(1)', 'private-use scheme with a dot'],
    ['data', 'data:text/html,x', 'private-use scheme with a dot'],
    ['a file', 'file:///etc/passwd', 'private-use scheme with a dot'],
    ['settings of macOS', 'x-apple.systempreferences:x', 'an operating system handles'],
    ['the camera of Windows', 'microsoft.windows.camera:x', 'an operating system handles'],
    ['a dot in the path alone', 'myapp:/com.example', 'private-use scheme with a dot'],
    ['an uppercase scheme', 'COM.example.app:/callback', 'private-use scheme with a dot'],
    ['a scheme that begins with a dot', '.com.example:/callback', 'is not an absolute URL'],
    ['an empty part of a scheme', 'com..example:/callback', 'private-use scheme with a dot'],
    ['a scheme and nothing', 'com.example.app:', 'private-use scheme with a dot'],
    ['plain http', 'http://app.example/callback', 'http is allowed only'],
    ['another address of the machine', 'http://127.0.0.2/callback', 'http is allowed only'],
    ['an uppercase host', 'http://LOCALHOST/callback', 'http is allowed only'],
    ['port 0', 'http://127.0.0.1:0/callback', 'http is allowed only'],
    ['a backslash', 'http:\\\\127.0.0.1\\callback', 'has the character U+005C'],
    ['a single slash', 'http:/127.0.0.1/callback', 'http is allowed only'],
    ['credentials', 'http://user@127.0.0.1/callback', 'contains a user name or password'],
    [
      'credentials of a private-use scheme',
      'com.example.app://user:pass@host/',
      'contains a user name or password',
    ],
    ['a fragment', 'com.example.app:/callback#x', 'has a fragment'],
    ['a wildcard', 'com.example.app:/*', 'contains a wildcard'],
    ['a parameter of the answer', 'com.example.app:/callback?code=1', 'has the parameter code'],
    ['a control character', 'com.example.app:/call\nback', 'has the character U+000A'],
    ['a space', 'com.example.app:/call back', 'has the character U+0020'],
  ])('is refused: %s', (_, uri, problem) => {
    expect(redirectUriProblem(uri, 'native')).toContain(problem);
  });

  test.each(['com.example.app:/callback', 'com.example.app://host/callback'])(
    'may have a private-use scheme, but that of a web application may not: %s',
    (uri) => {
      expect(redirectUriProblem(uri)).toBe('is not an absolute https URL');
    },
  );
});

// The URL parser can need a second to convert a very long host to ASCII.
// @shows AS-13.27
test.each([
  ['written with two slashes', (host: string) => `https://${host}/callback`],
  ['behind credentials', (host: string) => `https://user:secret@${host}/callback`],
  ['with a port', (host: string) => `https://${host}:8443/callback`],
  ['written without slashes', (host: string) => `https:${host}`],
  ['of another scheme', (host: string) => `wss://${host}/callback`],
  ['behind a tab', (host: string) => `https://\t/${host}`],
  ['behind a line break', (host: string) => `https://\r\n/${host}`],
  ['behind backslashes', (host: string) => `https:\\\\${host}`],
])('a host with more than 255 characters is refused before it is parsed: %s', (_, uriOf) => {
  const tooLong = 'has a host with more than 255 characters';
  for (const host of ['a'.repeat(256), '\u4E00'.repeat(256), '%E4%B8%80'.repeat(29)]) {
    expect(redirectUriProblem(uriOf(host))).toBe(tooLong);
    expect(redirectUriProblem(uriOf(host), 'native')).toBe(tooLong);
  }
  expect(redirectUriProblem(uriOf(`${'a.'.repeat(124)}example`))).not.toBe(tooLong);
});

test('a host with 255 characters is accepted', () => {
  expect(redirectUriProblem(`https://${'a.'.repeat(124)}example:65535/callback`)).toBeNull();
});

test.each([
  ['http://app.example/callback', 'http is allowed only'],
  // A URL parser reads these as https://user@app.example/ and https://:secret@app.example/.
  ['https:user@app.example/', 'contains a user name or password'],
  ['https::secret@app.example/', 'contains a user name or password'],
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
])(
  'response parameters are added to the query of %s, without those that are null',
  (uri, answered) => {
    expect(redirectWith(uri, { code: 'c', state: undefined })).toBe(answered);
  },
);

test.each([
  ['https://app.example/callback', 'app.example'],
  ['http://127.0.0.1:1/callback', '127.0.0.1:1'],
  ['com.example.app:/callback', 'com.example.app:'],
  // The authority of a private-use URI has no fixed meaning. So the page shows only the scheme.
  ['com.example.app://bank.example/callback', 'com.example.app:'],
])('the consent page reports that the response to %s goes to %s', (uri, told) => {
  expect(answerGoesTo(uri)).toBe(told);
});

test('a feature accepts a redirect URI only if it returns true, and not a promise', () => {
  const client = { redirectUris: [], applicationType: 'web' } as const;
  const asynchronous = (async () => false) as unknown as MayRedirect;
  expect(mayRedirectWith([asynchronous])(client, 'https://evil.example/callback')).toBe(false);
});

describe('a private-use scheme without a dot', () => {
  const check = (
    schemes: readonly string[],
    uris: readonly string[],
    type: 'web' | 'native' = 'native',
    before?: readonly string[],
  ) => checkRedirectUris(uris, schemes, type, before);

  test.each(['myapp', 'a', 'my-app+2'])('is allowed by name: %s', (scheme) => {
    const uris = [`${scheme}:/callback`, `${scheme}:x`, 'https://app.example/callback'];
    expect(check([scheme], uris)).toEqual(uris);
    expect(redirectUriProblem(`${scheme}:x`, 'native', ['other', scheme])).toBeNull();
  });

  test.each([
    'other:/callback',
    'myapp2:/callback',
    'xmyapp:/callback',
    'myapp:',
    'MYAPP:/callback',
    'other:/myapp:',
  ])('does not allow another one: %s', (uri) => {
    expect(redirectUriProblem(uri, 'native', ['myapp'])).toBe(
      'must be https or have a private-use scheme with a dot, such as com.example.app:/callback',
    );
    expect(() => check(['myapp'], ['myapp:/callback', uri])).toThrow(RegistrationError);
  });

  test.each(['', '1app', '-app', 'My', 'my_app', 'my.app', 'app:', ' app', 'app ', 'a\nb'])(
    'has only certain characters: %j',
    (scheme) => {
      expect(() => check([scheme], [`${scheme}:/callback`])).toThrow(
        `The scheme ${JSON.stringify(scheme)} must begin with a letter`,
      );
    },
  );

  test.each(['javascript', 'file', 'ms-settings', 'my-ms', 'web+app', 'chrome-extension'])(
    'is not one that other programs handle: %s',
    (scheme) => {
      expect(() => check([scheme], [`${scheme}:/callback`])).toThrow(
        `The scheme "${scheme}" is not a private-use scheme`,
      );
    },
  );

  test('is only for native applications, and for a URI that has it', () => {
    const uri = 'myapp:/callback';
    expect(() => check(['myapp'], [uri], 'web')).toThrow(
      'The scheme "myapp" is only for native applications; add --native',
    );
    for (const uris of [[], ['https://app.example/callback'], ['myapp:']])
      expect(() => check(['myapp'], uris)).toThrow(
        'No redirect URI has the scheme "myapp"; add one, or remove --allow-scheme',
      );
  });

  test('stays allowed for the URIs that a client had before', () => {
    const uri = 'myapp:/callback';
    expect(check([], [uri, uri], 'native', [uri])).toEqual([uri]);
    expect(() => check([], [uri, 'myapp:/b'], 'native', [uri])).toThrow('"myapp:/b" must be https');
    expect(() => check([], [uri])).toThrow(RegistrationError);
  });
});

test.each([
  ['http://127.0.0.1/a?b', { host: 'http://127.0.0.1', rest: '/a?b' }],
  ['http://localhost:65535', { host: 'http://localhost', rest: '' }],
  ['http://[::1]:8080/a', { host: 'http://[::1]', rest: '/a' }],
  ['http://localhost:65536/a', null],
  ['https://localhost/a', null],
  ['http://app.example/a', null],
])('the parts of %s around its port are %j', (uri, parts) => {
  expect(loopbackParts(uri)).toEqual(parts);
});
