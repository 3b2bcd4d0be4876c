import { describe, expect, test } from 'vitest';
import { readAuthorization, isBearerRequest, parseBearer, parseScheme } from './bearer.ts';

/** How many schemes a test has made up. The expression of each scheme is built only once. */
let schemes = 0;

describe('the Authorization header', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer  a-._~+/9==', 'a-._~+/9=='],
    [' BEARER abc ', 'abc'],
  ])('%j contains a bearer token', (header, token) => {
    expect(parseBearer(header)).toEqual({ token });
  });

  test.each([
    'Bearer',
    'Bearer ',
    'Bearer a b',
    'Bearer a, Bearer b',
    'Bearer "a"',
    'Bearer =a',
    'Bearer\tabc',
  ])('%j has the Bearer scheme, but no valid token', (header) => {
    expect(parseBearer(header)).toEqual({ token: null });
  });

  test.each([null, '', 'Bearerabc', 'Basic Bearer', 'Bearer=abc'])(
    '%j does not have the Bearer scheme',
    (header) => {
      expect(parseBearer(header)).toBe(null);
    },
  );

  test('with a malformed token still makes a request a bearer request', () => {
    const request = (authorization: string) =>
      new Request('https://app.example', { headers: { Authorization: authorization } });
    for (const schemes of [[], ['DPoP']]) {
      const takesDpop = schemes.length > 0;
      expect(isBearerRequest(request('Bearer'), schemes)).toBe(true);
      expect(isBearerRequest(request('DPoP'), schemes)).toBe(takesDpop);
      expect(isBearerRequest(request('dpop x'), schemes)).toBe(takesDpop);
      expect(isBearerRequest(request('DPoPx y'), schemes)).toBe(false);
      expect(isBearerRequest(request('Basic YTpi'), schemes)).toBe(false);
      expect(isBearerRequest(new Request('https://app.example'), schemes)).toBe(false);
    }
  });

  test('of a different scheme, such as DPoP, contains a token in the same way', () => {
    expect(parseScheme('DPoP', 'DPoP a-._~+/9==')).toEqual({ token: 'a-._~+/9==' });
    expect(parseScheme('DPoP', 'dpop a, DPoP b')).toEqual({ token: null });
    expect(parseScheme('DPoP', 'Bearer a')).toBe(null);
    expect(parseBearer('DPoP a')).toBe(null);
  });

  test('is compared with a scheme that no request has had before', () => {
    schemes += 1;
    const scheme = `X.${schemes}`;
    expect(parseScheme(scheme, `x.${schemes} a`)).toEqual({ token: 'a' });
    expect(parseScheme(scheme, `Xz${schemes} a`)).toBe(null);
    expect(parseScheme(scheme, `${scheme} a b`)).toEqual({ token: null });
    expect(parseScheme(`${scheme}*`, `${scheme}* a`)).toEqual({ token: 'a' });
    expect(parseScheme(`a${schemes}`, 'Basic a')).toBe(null);
  });

  test('is compared with the scheme literally, even if that contains special characters', () => {
    expect(parseScheme('X.Y', 'x.y a')).toEqual({ token: 'a' });
    expect(parseScheme('X.Y', 'XzY a')).toBe(null);
    expect(parseScheme('A*', 'A* a')).toEqual({ token: 'a' });
    expect(parseScheme('A*', 'AAA a')).toBe(null);
    expect(parseScheme('A|Basic', 'Basic a')).toBe(null);
  });
});

describe('the Authorization header of a Node request', () => {
  const of = (...rawHeaders: readonly string[]) =>
    readAuthorization({ headers: { authorization: 'Bearer a' }, rawHeaders });

  test('is null if missing, and otherwise the value that was sent', () => {
    expect(readAuthorization({ headers: {} })).toBe(null);
    expect(readAuthorization({ headers: {}, rawHeaders: ['Host', 'authorization'] })).toBe(null);
    expect(readAuthorization({ headers: { authorization: 'Bearer a' } })).toBe('Bearer a');
    expect(of('Host', 'x', 'Authorization', 'Bearer a')).toBe('Bearer a');
    // The value `Authorization` is not a header name. Another header name of the same length does
    // not match either.
    expect(of('X', 'Authorization', 'Authorization', 'Bearer a', 'Y', 'authorization')).toBe(
      'Bearer a',
    );
    expect(of('Authorization', 'Bearer a', 'Xuthorization', 'Bearer b')).toBe('Bearer a');
    expect(of('Authorization', 'Bearer a', 'Authorization-Info', 'Bearer b')).toBe('Bearer a');
  });

  test('is the value that the application set, or null if the application removed it', () => {
    const rawHeaders = ['Host', 'x', 'Authorization', 'Bearer a'];
    expect(readAuthorization({ headers: { authorization: 'Bearer b' }, rawHeaders })).toBe(
      'Bearer b',
    );
    expect(readAuthorization({ headers: {}, rawHeaders: [...rawHeaders, ...rawHeaders] })).toBe(
      null,
    );
  });

  test('contains all values if there are several, which is not a valid token', () => {
    // The second `Authorization` is a value, so the text after it is a header name.
    expect(
      of('Authorization', 'Bearer a', 'X', 'Authorization', 'Y', 'z', 'Authorization', 'Bearer b'),
    ).toBe('Bearer a, Bearer b');
    const both = of('Authorization', 'Bearer a', 'Host', 'x', 'AUTHORIZATION', 'Bearer b');
    expect(both).toBe('Bearer a, Bearer b');
    expect(parseBearer(both)).toEqual({ token: null });
    expect(of('authorization', 'Bearer a', 'authorization', 'Basic b')).toBe('Bearer a, Basic b');
  });
});
