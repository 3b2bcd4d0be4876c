import { describe, expect, test } from 'vitest';
import { prefersPage } from './accept.ts';
import { isAdded } from './added-headers.ts';
import { pageHeaders } from './page-headers.ts';
import { allowedFields } from './preflight.ts';
import { comesFromHere, isSentFromHere } from './same-origin.ts';
import {
  getRequestId,
  madeWithRequestId,
  nameRequest,
  requestIdFor,
  withRequestId,
} from './request-id.ts';

const request = (headers: Readonly<Record<string, string>> = {}) =>
  new Request('https://app.example/', { headers });

describe('a page is sent', () => {
  test.each([
    'text/html',
    'TEXT/HTML',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'application/json;q=0.5, text/html;q=0.5',
    'application/json; q=0.8, text/html; level=1; q=0.9',
    'application/json;q=0.2, text/html;level=1;Q=0.5',
    'application/json;charset=utf-8;q=0.4, text/html;q=0.5',
  ])('to a client that sends Accept: %s', (accept) => {
    expect(prefersPage(accept)).toBe(true);
  });

  test.each([
    null,
    '',
    '*/*',
    'application/json',
    'text/html;q=0',
    'text/html;q=0.4, application/json;q=0.5',
    'text/html;q=0.4, application/json; q=0.5',
    'text/html; Q=0.9, application/json',
    'application/json, text/html;q=0.99',
  ])('but not to a client that sends Accept: %s', (accept) => {
    expect(prefersPage(accept)).toBe(false);
  });
});

test.each([
  ['vary', {}, true],
  ['vary', { 'Access-Control-Allow-Origin': '*' }, true],
  ['access-control-expose-headers', {}, true],
  ['access-control-expose-headers', { 'Access-Control-Allow-Origin': '*' }, false],
  ['cache-control', {}, false],
  ['cache-control', { 'Access-Control-Allow-Origin': '*' }, false],
])('a response adds its %s to that of the application (%j): %s', (name, headers, added) => {
  expect(isAdded(name, new Response(null, { headers }))).toBe(added);
});

describe('the policy of a page', () => {
  const START =
    "default-src 'none'; style-src 'self' 'nonce-n'; img-src 'self' data:; font-src 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'";

  test.each([
    ['no scripts', [undefined, undefined], ''],
    ['forms to one place', ["'self'", {}], "; form-action 'self'"],
    [
      'scripts with a nonce',
      [undefined, { scripts: true }],
      "; script-src 'nonce-n'; connect-src 'self'",
    ],
    ['one script by its hash', [undefined, { scriptHash: 'sha256-x' }], "; script-src 'sha256-x'"],
    [
      'both, and forms',
      ['https:', { scripts: true, scriptHash: 'sha256-x' }],
      "; script-src 'nonce-n' 'sha256-x'; connect-src 'self'; form-action https:",
    ],
  ] as const)('allows %s', (_, [formAction, scripts], end) => {
    expect(pageHeaders('n', formAction, scripts)).toEqual({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': START + end,
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    });
  });
});

describe('a preflight allows the listed headers', () => {
  const LISTED = 'Authorization, DPoP';
  const LONG = 'a'.repeat(2048);

  test.each([
    ['and no others, if it names none', undefined, LISTED],
    ['and each header that it names', 'x-one,X-Two', `${LISTED}, x-one, X-Two`],
    [
      'and each other header once',
      ' traceparent , dpop, AUTHORIZATION, x-one ,traceparent',
      `${LISTED}, traceparent, x-one`,
    ],
    ['and nothing that is not a header name', 'x one, x:two, (x), "x", x\u00e9, ', LISTED],
    ['and names with each allowed sign', "a!#$%&'*+.^`|~-_9", `${LISTED}, a!#$%&'*+.^\`|~-_9`],
    ['and a list of 2,048 characters', LONG, `${LISTED}, ${LONG}`],
    ['and nothing of a longer list', `${LONG}a`, LISTED],
  ])('%s', (_, asked, allowed) => {
    const headers = asked === undefined ? {} : { 'Access-Control-Request-Headers': asked };
    expect(allowedFields(request(headers), LISTED)).toEqual({
      'Access-Control-Allow-Headers': allowed,
      Vary: 'Access-Control-Request-Headers',
    });
  });
});

describe('a request comes from a page of this origin', () => {
  const HERE = 'https://app.example';

  test.each([
    ['same-origin', true, true],
    ['none', false, true],
    ['same-site', false, false],
    ['cross-site', false, false],
    ['', false, false],
  ])('if Sec-Fetch-Site is %j: %s, or it was typed: %s', (site, sent, comes) => {
    // Sec-Fetch-Site comes before Origin.
    for (const origin of [HERE, 'null', 'https://evil.example']) {
      const asked = request({ 'Sec-Fetch-Site': site, Origin: origin });
      expect([isSentFromHere(asked), comesFromHere(asked, HERE)]).toEqual([sent, comes]);
    }
  });

  test.each([
    [undefined, true],
    ['null', true],
    [HERE, true],
    ['https://app.example.evil.example', false],
    ['http://app.example', false],
  ])('according to the Origin %s if that header is missing: %s', (origin, comes) => {
    const asked = request(origin === undefined ? {} : { Origin: origin });
    expect([isSentFromHere(asked), comesFromHere(asked, HERE)]).toEqual([false, comes]);
  });
});

describe('the id of a request', () => {
  const FRESH = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

  test.each(['a', 'Trace_1.2-3', 'a'.repeat(128)])('is the word that the client sent: %s', (id) => {
    expect(getRequestId(request({ 'X-Request-Id': id }))).toBe(id);
    expect(requestIdFor({}, id)).toBe(id);
  });

  test.each([undefined, '', 'two words', 'a\nb', '"a"', 'a'.repeat(129), ['a'], 7])(
    'is new for anything else: %j',
    (sent) => {
      const asked = {};
      const id = requestIdFor(asked, sent);
      expect(id).toMatch(FRESH);
      expect(requestIdFor(asked, sent)).toBe(id);
      expect(requestIdFor({}, sent)).not.toBe(id);
    },
  );

  test('stays the same, and is that of the message it was created from', () => {
    const asked = request();
    expect(getRequestId(asked)).toMatch(FRESH);
    expect(getRequestId(asked)).toBe(getRequestId(asked));
    const made = request({ 'X-Request-Id': 'other' });
    expect(nameRequest(made, 'named')).toBe(made);
    expect(getRequestId(made)).toBe('named');
  });

  test('is a header of the response', () => {
    const response = new Response('a');
    expect(withRequestId(response, 'id')).toBe(response);
    expect(response.headers.get('X-Request-Id')).toBe('id');
    expect(withRequestId(response, 'later').headers.get('X-Request-Id')).toBe('id');
  });

  test('is not looked for in a response that was made with it', () => {
    const response = madeWithRequestId(new Response('a'));
    expect(withRequestId(response, 'id')).toBe(response);
    expect(response.headers.get('X-Request-Id')).toBe(null);
  });

  test('is a header of a copy if the headers are read-only', async () => {
    const fixed = Response.redirect('https://app.example/there', 303);
    const copy = withRequestId(fixed, 'id');
    expect([copy.status, copy.headers.get('Location')]).toEqual([303, 'https://app.example/there']);
    expect(copy.headers.get('X-Request-Id')).toBe('id');
    const failed = new Response('text', { status: 418, statusText: 'Teapot' });
    failed.headers.set = () => {
      throw new TypeError('immutable');
    };
    const again = withRequestId(failed, 'id');
    expect([again.status, again.statusText, await again.text()]).toEqual([418, 'Teapot', 'text']);
  });
});
