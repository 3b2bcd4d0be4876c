import { describe, expect, test } from 'vitest';
import {
  BearerError,
  BodyTooLargeError,
  ClientKeysError,
  KeyProofError,
  NotNowError,
  OAuthError,
  TooManyFailuresError,
  TooManyRegistrationsError,
} from '../../errors.ts';
import { readBodyText } from '../../http/body-text.ts';
import type { BindingRefusal } from '../../http/challenges.ts';
import { dpopOffer } from '../../http/dpop.ts';
import {
  bearerErrorResponse,
  faultReply,
  jsonReply,
  refusalReply,
  toResponse,
  unavailableReply,
  withFields,
  withRequestIdField,
} from './responses.ts';

const STORED_NEVER = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
};
const DPOP = dpopOffer({ required: false, algorithms: ['ES256', 'RS256'] });
const METADATA = 'https://app.example/.well-known/oauth-protected-resource';

const told = (error: string, description: string) =>
  JSON.stringify({ error, error_description: description });

describe('a refusal', () => {
  test.each<[string, Error, number, string, Readonly<Record<string, string>>]>([
    ['of a request', new OAuthError('invalid_grant', 'Told.', 'why'), 400, 'invalid_grant', {}],
    [
      'of a client',
      new OAuthError('invalid_client', 'Told.'),
      401,
      'invalid_client',
      { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' },
    ],
    [
      'of a proof',
      new KeyProofError('invalid_request', 'Told.', 'why', { 'DPoP-Nonce': 'n' }),
      400,
      'invalid_request',
      { 'DPoP-Nonce': 'n' },
    ],
    [
      'after too many failures',
      new TooManyFailuresError(1001),
      429,
      'temporarily_unavailable',
      { 'Retry-After': '2' },
    ],
    [
      'while keys of a client cannot be fetched',
      new ClientKeysError('why', 3),
      503,
      'temporarily_unavailable',
      { 'Retry-After': '3' },
    ],
    [
      'for now',
      new NotNowError('Told.', { tooMuch: false, detail: 'why', retryAfter: 4 }),
      503,
      'temporarily_unavailable',
      { 'Retry-After': '4' },
    ],
    [
      'of a caller who asks too much',
      new NotNowError('Told.', { tooMuch: true, detail: 'why', retryAfter: 5 }),
      429,
      'temporarily_unavailable',
      { 'Retry-After': '5' },
    ],
    [
      'after too many registrations from a network',
      new TooManyRegistrationsError('network', 1),
      429,
      'temporarily_unavailable',
      { 'Retry-After': '1' },
    ],
    [
      'after too many registrations',
      new TooManyRegistrationsError('all', 1),
      503,
      'temporarily_unavailable',
      { 'Retry-After': '1' },
    ],
    ['of a large body', new BodyTooLargeError('Told.'), 413, 'invalid_request', {}],
  ])('%s has its status, code and headers', (_, error, status, code, headers) => {
    expect(refusalReply(error)).toEqual({
      status,
      headers: { ...STORED_NEVER, ...headers },
      body: told(code, error.message),
    });
  });

  test('is not made of another error', () => {
    for (const error of [new TypeError('a fault'), null, 'text'])
      expect(refusalReply(error)).toBeNull();
  });

  test('says how long to wait, and from where too many clients registered', () => {
    expect(
      [
        new TooManyFailuresError(1000),
        new TooManyRegistrationsError('network', 61_000),
        new TooManyRegistrationsError('all', 0),
      ].map(({ message, retryAfter }) => [message, retryAfter]),
    ).toEqual([
      ['Too many failed attempts; wait before the next one.', 1],
      ['Too many clients have registered from this network; try again in 61 s.', 61],
      ['Too many clients have registered here; try again in 1 s.', 1],
    ]);
  });
});

describe('a refusal of an access token', () => {
  const refused = (...parts: ConstructorParameters<typeof BearerError>) => {
    const { status, headers } = refusalReply(new BearerError(...parts)) ?? {};
    const { 'WWW-Authenticate': challenge, ...others } = headers ?? {};
    return { status, challenge, others };
  };
  const READABLE = { 'Access-Control-Expose-Headers': 'WWW-Authenticate' };

  test.each<[ConstructorParameters<typeof BearerError>[0], number]>([
    ['invalid_token', 401],
    ['invalid_request', 400],
    ['insufficient_scope', 403],
  ])('with %s has the status %d and names the error', (code, status) => {
    expect(refused(code, 'a b', { message: 'Told.' })).toEqual({
      status,
      challenge: `Bearer realm="oauth", error="${code}", error_description="Told.", scope="a b"`,
      others: STORED_NEVER,
    });
  });

  test('without a token names no error, and the scope only beside the metadata', () => {
    expect(refused('missing_token', 'a')).toEqual({
      status: 401,
      challenge: 'Bearer realm="oauth"',
      others: STORED_NEVER,
    });
    const about = { resourceMetadata: METADATA, parameters: { more: 'x' } };
    expect(refused('missing_token', 'a', about)).toEqual({
      status: 401,
      challenge: `Bearer realm="oauth", scope="a", more="x", resource_metadata="${METADATA}"`,
      others: { ...STORED_NEVER, ...READABLE },
    });
    expect(refusalReply(new BearerError('missing_token'))?.body).toBe(
      '{"error":"invalid_token","error_description":"This resource needs an access token."}',
    );
  });

  test('that no other token would change has no challenge', () => {
    const about = { resourceMetadata: METADATA };
    expect(refused('access_denied', null, about)).toEqual({
      status: 403,
      challenge: undefined,
      others: STORED_NEVER,
    });
  });

  test('tells about bound tokens in headers that pages can read', () => {
    const binding: BindingRefusal = { ...DPOP, presented: true, answer: 'n' };
    const readable = { 'Access-Control-Expose-Headers': 'WWW-Authenticate, DPoP-Nonce' };
    expect(refused('invalid_token', null, { message: 'Told.', binding })).toEqual({
      status: 401,
      challenge:
        'DPoP realm="oauth", error="invalid_token", error_description="Told.", algs="ES256 RS256"',
      others: { ...STORED_NEVER, ...readable, 'DPoP-Nonce': 'n' },
    });
    const without = refused('invalid_token', null, { binding: { ...binding, answer: null } });
    expect(without.others).toEqual({ ...STORED_NEVER, ...readable });
  });

  test('can be a response with the id of the request', async () => {
    const response = bearerErrorResponse(
      new BearerError('invalid_token', null, { requestId: 'r' }),
    );
    expect([response.status, response.headers.get('x-request-id')]).toEqual([401, 'r']);
    const without = bearerErrorResponse(new BearerError('invalid_token'));
    expect(without.headers.get('x-request-id')).toBeNull();
  });
});

describe('a reply', () => {
  test('of JSON is never stored, unless it has other headers', () => {
    expect(jsonReply({ a: 1 })).toEqual({ status: 200, headers: STORED_NEVER, body: '{"a":1}' });
    expect(jsonReply({}, 201, { A: 'b' })).toEqual({
      status: 201,
      headers: { 'Content-Type': 'application/json', A: 'b' },
      body: '{}',
    });
  });

  test('can get further headers', () => {
    const reply = jsonReply({}, 200, { A: 'b' });
    expect([withFields(reply, null), withRequestIdField(reply, null)]).toEqual([reply, reply]);
    expect(withFields(reply, { A: 'c', D: 'e' }).headers).toEqual({
      'Content-Type': 'application/json',
      A: 'c',
      D: 'e',
    });
    expect(withRequestIdField(reply, 'r').headers).toMatchObject({ A: 'b', 'X-Request-Id': 'r' });
  });

  test('becomes a response with its cookies', async () => {
    const cookies = ['a=b', 'c=d'];
    const response = toResponse({ status: 201, headers: { A: 'b' }, body: 'text', cookies });
    expect([response.status, response.headers.get('a'), await response.text()]).toEqual([
      201,
      'b',
      'text',
    ]);
    expect(response.headers.getSetCookie()).toEqual(cookies);
    const empty = toResponse({ status: 204, headers: {}, body: null });
    expect([empty.body, empty.headers.getSetCookie()]).toEqual([null, []]);
    // Mounts read the text without the stream.
    expect([readBodyText(response), readBodyText(empty)]).toEqual(['text', null]);
    const bytes = toResponse({ status: 200, headers: {}, body: new Uint8Array([1, 2]) });
    expect(readBodyText(bytes)).toBeNull();
    expect(new Uint8Array(await bytes.arrayBuffer())).toEqual(new Uint8Array([1, 2]));
  });

  test('says whether the client should try again', () => {
    expect(unavailableReply()).toEqual({
      status: 503,
      headers: { ...STORED_NEVER, 'Retry-After': '2' },
      body: told('temporarily_unavailable', 'The server cannot answer now; try again.'),
    });
    expect(faultReply()).toEqual({
      status: 500,
      headers: STORED_NEVER,
      body: '{"error":"server_error","error_description":"The server failed to answer."}',
    });
  });
});
