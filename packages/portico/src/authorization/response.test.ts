import { expect, test } from 'vitest';
import { OAuthError } from '../errors.ts';
import { redirectWith } from '../clients/redirect-uris.ts';
import { createParameters } from '../parameters.ts';
import { ResponseModes } from './response-modes.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { responseParameters, responseTo, type AuthorizationResponse } from './response.ts';

const ISSUER = 'https://portal.example';
const urlOf = (response: Omit<AuthorizationResponse, 'client'>) =>
  redirectWith(response.redirectUri, responseParameters(response, ISSUER));
const redirectUri = 'https://client.example/callback';
const error = new OAuthError('access_denied', 'The person said no.', 'for the log');

// RFC 6749 sections 4.1.2 and 4.1.2.1, and RFC 9207.
test('an authorization response contains the code or the error, the state and the issuer', () => {
  expect(urlOf({ redirectUri, state: 'a b', result: { code: 'c' } })).toBe(
    'https://client.example/callback?code=c&state=a+b&iss=https%3A%2F%2Fportal.example',
  );
  expect(urlOf({ redirectUri: `${redirectUri}?x=1`, state: 's', result: { error } })).toBe(
    'https://client.example/callback?x=1&error=access_denied&error_description=The+person+said+no.' +
      '&state=s&iss=https%3A%2F%2Fportal.example',
  );
});

test('an authorization response has no state if the request had none', () => {
  expect(urlOf({ redirectUri, state: null, result: { code: 'c' } })).toBe(
    'https://client.example/callback?code=c&iss=https%3A%2F%2Fportal.example',
  );
  expect(urlOf({ redirectUri, state: null, result: { error } })).toBe(
    'https://client.example/callback?error=access_denied&error_description=The+person+said+no.' +
      '&iss=https%3A%2F%2Fportal.example',
  );
});

test('a response goes where the request says, in the mode that it names', () => {
  const client = storedClient('app', 0);
  const result = { code: 'c' };
  const returns = { redirectUri, state: 's' };
  expect(responseTo(returns, client, result)).toStrictEqual({ ...returns, client, result });
  const asked = { ...returns, responseMode: 'form_post' };
  expect(responseTo(asked, client, result)).toStrictEqual({ ...asked, client, result });
});

test('a response mode without limits sends every response and every error', () => {
  const mode = { name: 'fragment' };
  const modes = new ResponseModes([mode]);
  const asked = { responseMode: 'fragment' };
  const parameters = createParameters(new URLSearchParams({ response_mode: 'fragment' }));
  const returns = { redirectUri, state: null };
  expect(modes.names).toEqual(['query', 'fragment']);
  expect(modes.require(parameters, returns)).toEqual(asked);
  expect(modes.forError(parameters, returns)).toEqual(asked);
  expect([modes.of(asked), modes.of({})]).toEqual([mode, null]);
});
