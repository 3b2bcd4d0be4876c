import { describe, expect, test } from 'vitest';
import { basePathSchema, publicUrlSchema } from './public-url.ts';
import { signInLinksSchema } from './sign-in-links.ts';

const HINT = 'set it to the origin that people use, such as https://app.example.com';
const problem = (value: unknown, mode: 'dev' | 'prod' = 'prod') =>
  publicUrlSchema(mode).safeParse(value).error?.issues[0]?.message;

describe('public_url', () => {
  test.each(['https://app.example', 'https://app.example/', 'https://app.example:8443'])(
    'can be %s',
    (url) => {
      expect([problem(url), problem(url, 'dev')]).toEqual([undefined, undefined]);
    },
  );

  test.each([
    [undefined, 'is missing'],
    [null, 'must be an absolute https origin'],
    [1, 'must be an absolute https origin'],
    ['', 'is not an absolute URL'],
    ['app.example', 'is not an absolute URL'],
    ['http://app.example', 'must be https'],
    ['ftp://app.example', 'must be https'],
    ['https://a@app.example', 'must not contain a user name or password'],
    ['https://:b@app.example', 'must not contain a user name or password'],
    ['https://app.example/a', 'must be an origin without a path: use https://app.example'],
    ['https://app.example//', 'must be an origin without a path: use https://app.example'],
    ['https://app.example?a', 'must be an origin without a path: use https://app.example'],
    ['https://App.example', 'must be an origin without a path: use https://app.example'],
    ['https://app.example:443', 'must be an origin without a path: use https://app.example'],
  ])('cannot be %j', (url, reason) => {
    expect(problem(url)).toBe(`${reason}; ${HINT}`);
  });

  test('can be http only on loopback in development', () => {
    for (const url of ['http://localhost:8080', 'http://127.0.0.1:8080/']) {
      expect(problem(url, 'dev')).toBeUndefined();
      expect(problem(url)).toBe(
        `must be https (http is allowed only on loopback with APP_ENV=dev); ${HINT}`,
      );
    }
    expect(problem('http://app.example', 'dev')).toBe(`must be https; ${HINT}`);
    expect(problem('http://a@localhost', 'dev')).toBe(
      `must not contain a user name or password; ${HINT}`,
    );
    expect(problem('http://localhost/a', 'dev')).toBe(
      `must be an origin without a path: use http://localhost; ${HINT}`,
    );
  });
});

test('base_path is a path, or empty', () => {
  const reason = (value: unknown) => basePathSchema.safeParse(value).error?.issues[0]?.message;
  expect([reason(''), reason('/auth')]).toEqual([undefined, undefined]);
  expect(reason(null)).toBe('must be a path such as /auth, or empty');
  expect(reason('auth')).toBe('must begin with /');
});

describe('a link on the sign-in page', () => {
  const isAllowed = (terms: unknown) => signInLinksSchema.safeParse({ terms }).success;

  test.each([
    '/terms',
    '/',
    '/a-b_c.d~e!$&()*+,;=:@%20/f?g=h#i',
    'https://app.example/terms',
    'https://app.example',
  ])('can be %s', (link) => expect(isAllowed(link)).toBe(true));

  test.each([
    '',
    'terms',
    '//app.example',
    '/a b',
    '/a"b',
    "/a'b",
    '/a\\b',
    '/a<b',
    '/a\n',
    'http://app.example/terms',
    'https://',
    'https://[',
    'https://app.example/a b',
    'https://app.example\\a',
    'https://a@app.example',
    'https://:b@app.example',
    ' https://app.example',
    'javascript:alert(1)',
    'xhttps://app.example',
    1,
    null,
  ])('cannot be %j', (link) => {
    const { error } = signInLinksSchema.safeParse({ terms: link });
    expect(error?.issues).toMatchObject([
      { message: 'must be an https URL, or a path such as /terms', path: ['terms'] },
    ]);
  });

  test('is for a forgotten password, or for terms', () => {
    expect(signInLinksSchema.safeParse({ forgot_password: '/forgot' }).success).toBe(true);
    expect(signInLinksSchema.safeParse({ help: '/help' }).success).toBe(false);
  });
});
