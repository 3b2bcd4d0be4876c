import { describe, expect, test } from 'vitest';
import { isBearerRequest, parseBearer } from './bearer.ts';

describe('the Authorization header', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer  a-._~+/9==', 'a-._~+/9=='],
    [' BEARER abc ', 'abc'],
  ])('%j carries a token', (header, token) => {
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
  ])('%j is of the scheme, and carries no token', (header) => {
    expect(parseBearer(header)).toEqual({ token: null });
  });

  test.each([null, '', 'Bearerabc', 'Basic Bearer', 'Bearer=abc'])('%j is of no such scheme', (header) => {
    expect(parseBearer(header)).toBe(null);
  });

  test('a request with a malformed token is a bearer request all the same', () => {
    const request = (authorization: string) =>
      new Request('https://app.example', { headers: { Authorization: authorization } });
    expect(isBearerRequest(request('Bearer'))).toBe(true);
    expect(isBearerRequest(request('Basic YTpi'))).toBe(false);
    expect(isBearerRequest(new Request('https://app.example'))).toBe(false);
  });
});
