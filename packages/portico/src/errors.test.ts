import { expect, test } from 'vitest';
import {
  AccessError,
  AuthorizationPageError,
  BearerError,
  BodyTooLargeError,
  ClientKeysError,
  HostTimeoutError,
  KeyProofError,
  NotNowError,
  OAuthError,
  RegistrationError,
  TooManyFailuresError,
  TooManyRegistrationsError,
} from './errors.ts';
import { page } from './pages/words.ts';

const PAGE = page('error.fault');

test('each error has the name of its class', () => {
  const errors = [
    new OAuthError('invalid_grant', 'Told.'),
    new KeyProofError('invalid_request', 'Told.', 'why'),
    new TooManyFailuresError(1),
    new ClientKeysError('why', 1),
    new NotNowError('Told.', { tooMuch: false, detail: 'why', retryAfter: 1 }),
    new TooManyRegistrationsError('all', 1),
    new BodyTooLargeError('Told.'),
    new AuthorizationPageError(PAGE),
    new BearerError('invalid_token'),
    new RegistrationError('Told.'),
    new AccessError('Told.'),
    new HostTimeoutError('signedIn', 5000),
  ];
  expect(errors.map(({ name }) => name)).toEqual(errors.map((each) => each.constructor.name));
  expect(errors.at(-1)?.message).toBe('Host.signedIn did not respond within 5000 ms');
});

test('an error page has its own status, link and wait, or the usual ones', () => {
  const usual = new AuthorizationPageError(PAGE);
  expect(usual).toMatchObject({
    text: PAGE,
    detail: null,
    retryAfter: null,
    link: null,
    status: 400,
    code: 'not_redirected',
  });
  expect([usual.title.length > 0, usual.title === usual.message]).toEqual([true, false]);
  const link = { href: '/', text: PAGE.title };
  const about = { retryAfter: 5, link, status: 404, code: 'own' } as const;
  expect(new AuthorizationPageError(PAGE, 'why', about)).toMatchObject({ detail: 'why', ...about });
});

test('a refusal of a token has what is known about it', () => {
  expect(new BearerError('invalid_token')).toMatchObject({
    scope: null,
    detail: null,
    requestId: null,
    resourceMetadata: null,
    binding: null,
    authorization: null,
    parameters: {},
  });
  const about = {
    detail: 'why',
    requestId: 'r',
    resourceMetadata: 'https://app.example/metadata',
    authorization: 'one',
    parameters: { more: 'x' },
  };
  expect(new BearerError('insufficient_scope', 'a', about)).toMatchObject({ scope: 'a', ...about });
  expect(new BearerError('own' as never).message).toBe('own');
});
