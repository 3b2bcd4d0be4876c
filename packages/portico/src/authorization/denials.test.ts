import { expect, test } from 'vitest';
import type { ConsentRequest } from '../store/requests.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { codeUsed, nothingHeld, notAllowed } from './denials.ts';
import { notUsable } from './direct-requests.ts';
import type { AuthorizationResponse } from './response.ts';
import { isOpened, notSignedInSilently, notSilent } from './silent-requests.ts';

const client = storedClient('app', 0);
const asked = {
  redirectUri: 'https://client.example/cb',
  state: 's',
  scopes: ['read', 'write'],
} as unknown as ConsentRequest;
const chosen = { ...asked, choices: { optional: ['write'], added: [] } };
const NONE = 'the person has no permission for the requested scopes: "read", "write"';
const CHOSEN =
  'the person selected no scope, or does not have the permission for any selected scope';

test.each<[() => AuthorizationResponse, string, string, string]>([
  [
    () => nothingHeld(asked, client),
    'access_denied',
    'The person holds no permission that the scopes ask for.',
    NONE,
  ],
  [() => notAllowed(asked, client, true), 'access_denied', 'The person did not allow it.', NONE],
  [() => notAllowed(chosen, client, true), 'access_denied', 'The person did not allow it.', CHOSEN],
  [
    () => notAllowed(chosen, client, false),
    'access_denied',
    'The person did not allow it.',
    'the person denied the request',
  ],
  [
    () => codeUsed(asked, client),
    'access_denied',
    'The person has allowed this request before, and its code was used.',
    'the person allowed the request again, but its authorization code was already used',
  ],
  [
    () => notSilent(asked, client),
    'interaction_required',
    'The person must be asked.',
    'the client sent prompt=none, but no remembered consent covers the request',
  ],
  [
    () => notSignedInSilently(asked, client),
    'login_required',
    'The person must sign in.',
    'the client sent prompt=none, but the person must sign in or authenticate again',
  ],
])('a request without consent ends with an error for the client: $2, $3', (respond, ...error) => {
  const response = respond();
  const { redirectUri, state, result } = response;
  expect([redirectUri, state, response.client]).toEqual([asked.redirectUri, 's', client]);
  if (!('error' in result)) throw new Error('The response is a code');
  expect([result.error.code, result.error.message, result.error.detail]).toEqual(error);
});

test('a reference to a stored request that cannot be used is a page', () => {
  expect(notUsable('it has expired')).toMatchObject({
    title: 'This link can no longer be used',
    detail: 'the request_uri: it has expired',
  });
});

test.each<[headers: Record<string, string>, page: boolean, silent: boolean]>([
  [{}, true, true],
  [{ 'Sec-Fetch-Dest': 'document' }, true, true],
  [{ 'Sec-Fetch-Dest': 'iframe' }, false, true],
  [{ 'Sec-Fetch-Dest': 'image' }, false, false],
  [{ 'Sec-Fetch-Dest': 'empty' }, false, false],
  ...['Sec-Purpose', 'Purpose', 'X-Moz', 'X-Purpose'].map(
    (name): [Record<string, string>, boolean, boolean] => [{ [name]: 'prefetch' }, false, false],
  ),
  [{ 'Sec-Purpose': 'Prerender' }, false, false],
  [{ 'Sec-Purpose': 'other', Purpose: 'other' }, true, true],
])('with %j, a person opened the page: %s, or silently: %s', (headers, page, silent) => {
  const url = 'https://as.example/oauth/authorize';
  const opened = (method: string, isSilent: boolean) =>
    isOpened(new Request(url, { method, headers }), isSilent);
  expect([opened('GET', false), opened('GET', true)]).toEqual([page, silent]);
  expect([opened('POST', false), opened('POST', true)]).toEqual([false, false]);
});
