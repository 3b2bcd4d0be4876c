import { describe, expect, test } from 'vitest';
import {
  AuthorizationPageError,
  BearerError,
  BodyTooLargeError,
  ClientKeysError,
  KeyProofError,
  NotNowError,
  OAuthError,
  TooManyFailuresError,
  TooManyRegistrationsError,
} from './errors.ts';
import type { CompleteHost } from './host/host.ts';
import { getRequestId } from './http/request-id.ts';
import { page } from './pages/words.ts';
import { logRefusal, notedClient, noteClient, refusalCode } from './refusals.ts';

const REQUEST = new Request('https://app.example/oauth/token');

/** Returns what the log has of a refusal. */
function logged(error: Error, request: Request | null = REQUEST, address = () => '192.0.2.1') {
  const lines: unknown[] = [];
  const host = {
    log: { info: (message: string, context: object) => lines.push([message, context]) },
    clientAddress: address,
  } as unknown as CompleteHost;
  logRefusal(host, { endpoint: 'token', request, error, clientId: 'a' });
  return lines;
}

const line = (error: string, detail: string, more: object = {}) => [
  [
    '{endpoint} refused: {error} ({detail})',
    {
      endpoint: 'token',
      requestId: getRequestId(REQUEST),
      error,
      detail,
      clientId: 'a',
      address: '192.0.2.1',
      ...more,
    },
  ],
];

const PAGE = page('error.fault');
const NOT_NOW = { detail: 'the reason', retryAfter: 3 };

describe('the log has the code and the reason of a refusal', () => {
  test.each<readonly [string, string, Error]>([
    ['invalid_grant', 'why', new OAuthError('invalid_grant', 'Told.', 'why')],
    ['invalid_grant', 'Told.', new OAuthError('invalid_grant', 'Told.')],
    ['invalid_token', 'why', new BearerError('invalid_token', null, { detail: 'why' })],
    ['missing_token', 'This resource needs an access token.', new BearerError('missing_token')],
    ['invalid_request', 'why', new KeyProofError('invalid_request', 'Told.', 'why')],
    ['not_redirected', 'why', new AuthorizationPageError(PAGE, 'why')],
    ['own', 'why', new AuthorizationPageError(PAGE, 'why', { code: 'own' })],
    ['too_many_failures', 'the next attempt is allowed in 2 s', new TooManyFailuresError(1001)],
    ['client_keys_unavailable', 'why', new ClientKeysError('why', 3)],
    ['not_now', 'the reason', new NotNowError('Told.', { ...NOT_NOW, tooMuch: false })],
    ['too_much', 'the reason', new NotNowError('Told.', { ...NOT_NOW, tooMuch: true })],
    [
      'too_many_registrations',
      'from this network; the next registration is allowed in 2 s',
      new TooManyRegistrationsError('network', 1001),
    ],
    [
      'too_many_registrations',
      'in total; the next registration is allowed in 1 s',
      new TooManyRegistrationsError('all', 0),
    ],
    ['body_too_large', 'Too large.', new BodyTooLargeError('Too large.')],
  ])('%s: %s', (code, detail, error) => {
    expect(refusalCode(error)).toBe(code);
    expect(logged(error)).toEqual(line(code, detail));
  });

  test('or the name of another error', () => {
    expect(refusalCode(new TypeError('a fault'))).toBeNull();
    expect(logged(new TypeError('a fault'))).toStrictEqual(line('TypeError', 'a fault'));
  });

  test('and the text of a page if there is no further reason', () => {
    const error = new AuthorizationPageError(PAGE);
    expect(logged(error)).toEqual(line('not_redirected', `${error.title}: ${error.message}`));
  });
});

test('the log names the authorization of a refused request, if it is known', () => {
  const error = new OAuthError('invalid_grant', 'Told.', 'why');
  error.authorization = 'one';
  expect(logged(error)).toEqual(line('invalid_grant', 'why', { authorizationId: 'one' }));
  const bearer = new BearerError('invalid_token', null, { detail: 'why', authorization: 'one' });
  expect(logged(bearer)).toEqual(line('invalid_token', 'why', { authorizationId: 'one' }));
});

test('a refusal is logged without an address if there is no request, or the host fails', () => {
  const error = new OAuthError('invalid_grant', 'Told.', 'why');
  expect(logged(error, null)).toEqual(
    line('invalid_grant', 'why', { requestId: null, address: null }),
  );
  const fail = () => {
    throw new Error('The address is not known');
  };
  expect(logged(error, REQUEST, fail)).toEqual(line('invalid_grant', 'why', { address: null }));
});

test('the client of a request is known after it was noted', () => {
  const request = new Request('https://app.example/');
  expect(notedClient(request)).toBeNull();
  noteClient(request, 'a');
  expect(notedClient(request)).toBe('a');
});
