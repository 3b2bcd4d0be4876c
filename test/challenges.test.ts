// @engines sqlite: the database makes no difference
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  ADA,
  callApi,
  obtainTokens,
  registerClient,
  startPortal,
  type RunningPortal,
} from './support/portal.ts';

/** `oauth_server:challenge`: a refusal of `token()` says how to get a token (decision 38). */
let portal: RunningPortal;
let documentUrl: string;

beforeAll(async () => {
  portal = await startPortal({
    config: (url) => ({ oauth_server: { challenge: true, audience: `${url}/api` } }),
  });
  documentUrl = `${portal.url}/.well-known/oauth-protected-resource/api`;
});
afterAll(() => portal.close());

const challengeOf = async (asked: Promise<Response>) => {
  const { status, headers } = await asked;
  return [status, headers.get('www-authenticate'), headers.get('access-control-expose-headers')];
};
const METADATA = () => `resource_metadata="${documentUrl}"`;

describe('a challenge of the host API', () => {
  // @shows AS-12.10
  test.each([true, false])('names the metadata: %s, as the setting says', async (challenge) => {
    const own = await startPortal({
      config: (url) => ({ oauth_server: { challenge, audience: `${url}/api` } }),
    });
    onTestFinished(() => own.close());
    const { headers } = await fetch(`${own.url}/api/notes`);
    expect(headers.get('www-authenticate')?.includes('resource_metadata')).toBe(challenge);
  });

  // @shows AS-12.10, RFC6750-3.1a, RFC9728-5.1
  test('without a token: names the required scope and the metadata URL, without an error', async () => {
    expect(await challengeOf(fetch(`${portal.url}/api/notes`))).toEqual([
      401,
      `Bearer realm="oauth", scope="notes:read", ${METADATA()}`,
      'WWW-Authenticate',
    ]);
  });

  // @shows AS-12.10
  test('without a token, if any token is enough: names no scope', async () => {
    expect(await challengeOf(fetch(`${portal.url}/api/whoami`))).toEqual([
      401,
      `Bearer realm="oauth", ${METADATA()}`,
      'WWW-Authenticate',
    ]);
  });

  // @shows AS-12.10
  test('with an invalid token: contains invalid_token', async () => {
    expect(await challengeOf(callApi(portal, '/api/notes', 'x'.repeat(43)))).toEqual([
      401,
      'Bearer realm="oauth", error="invalid_token", ' +
        'error_description="The access token is not valid here: unknown, expired or revoked.", ' +
        `scope="notes:read", ${METADATA()}`,
      'WWW-Authenticate',
    ]);
  });

  // @shows AS-12.10, RFC6750-3.1c
  test('with a token that lacks scopes: insufficient_scope, with only the scopes of this call', async () => {
    const client = await registerClient(portal);
    const { access_token } = await obtainTokens(portal, client, ADA, { scope: 'notes:write' });
    expect(await challengeOf(callApi(portal, '/api/notes', access_token))).toEqual([
      403,
      'Bearer realm="oauth", error="insufficient_scope", ' +
        `error_description="The access token does not reach this resource.", scope="notes:read", ${METADATA()}`,
      'WWW-Authenticate',
    ]);
  });

  // @shows AS-12.15
  test('is not sent if the person lost the permission, because no token would help', async () => {
    const client = await registerClient(portal);
    const { access_token } = await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    await portal.deny(ADA, 'notes:read');
    try {
      expect(await challengeOf(callApi(portal, '/api/notes', access_token))).toEqual([
        403,
        null,
        null,
      ]);
      const refused = await callApi(portal, '/api/notes', access_token);
      expect(await refused.json()).toEqual({
        error: 'access_denied',
        error_description:
          'The person has no permission for this, and no access token would change that.',
      });
    } finally {
      await portal.grant(ADA, 'notes:read');
    }
    expect((await callApi(portal, '/api/notes', access_token)).status).toBe(200);
  });

  test('is not added to UserInfo, which is not part of the host API', async () => {
    expect(await challengeOf(fetch(`${portal.url}/oauth/userinfo`))).toEqual([
      401,
      'Bearer realm="oauth"',
      'WWW-Authenticate, Retry-After, X-Request-Id',
    ]);
  });
});

describe('the metadata that the challenge links to', () => {
  // @shows AS-6.24, RFC9728-2, RFC9728-3.1
  test('describes the audience, and pages of any origin may read it', async () => {
    const response = await fetch(documentUrl, { headers: { Origin: 'https://page.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({
      resource: `${portal.url}/api`,
      authorization_servers: [portal.url],
      scopes_supported: ['notes:read', 'notes:write'],
      bearer_methods_supported: ['header'],
      resource_name: 'Portal',
    });
  });

  // @shows AS-2.23
  test('does not exist if oauth_server:challenge is off', async () => {
    const usual = await startPortal({
      config: (url) => ({ oauth_server: { audience: `${url}/api` } }),
    });
    try {
      const response = await fetch(`${usual.url}/.well-known/oauth-protected-resource/api`);
      expect(response.status).toBe(404);
      expect(await challengeOf(fetch(`${usual.url}/api/notes`))).toEqual([
        401,
        'Bearer realm="oauth"',
        null,
      ]);
    } finally {
      await usual.close();
    }
  });

  // @shows AS-2.23
  test.each([
    ['', 'needs oauth_server:audience'],
    ['https://api.example/v1', 'that API is not on http://localhost:'],
  ])(
    'prevents the start if it cannot be published for the audience %j',
    async (audience, reason) => {
      const starting = startPortal({ config: { oauth_server: { challenge: true, audience } } });
      await expect(starting).rejects.toThrow(reason);
      await expect(starting).rejects.toThrow('oauth_server:challenge');
    },
  );
});
