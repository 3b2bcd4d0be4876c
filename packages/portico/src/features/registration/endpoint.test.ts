import { NO_FIELDS } from '../../store/no-fields.fixture.ts';
import { describe, expect, test } from 'vitest';
import { demands } from '../../store/client-demands.fixture.ts';
import { BearerError, BodyTooLargeError, OAuthError } from '../../errors.ts';
import { notedClient } from '../../refusals.ts';
import type { Registrations } from './registrations.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { RegisterEndpoint } from './endpoint.ts';

const ISSUER = 'https://portal.example/below';
const AT = `${ISSUER}/oauth/register`;
const NEVER_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

const CLIENT = {
  id: 'notebook',
  name: 'Notebook',
  applicationType: 'web',
  redirectUris: ['https://client.example/callback'],
  grants: ['authorization_code', 'refresh_token'],
  scopes: ['openid', 'notes:read'],
  idTokenSignedResponseAlg: 'ES256',
  public: true,
  keys: null,
  pushesRequests: false,
  dpopBoundAccessTokens: false,
  secretExpiresAt: null,
  createdAt: 1_800_000_000_999,
} as unknown as Client;

const TOLD = {
  client_id: 'notebook',
  client_id_issued_at: 1_800_000_000,
  registration_access_token: 'the-token',
  registration_client_uri: `${AT}?client_id=notebook`,
  client_name: 'Notebook',
  application_type: 'web',
  redirect_uris: ['https://client.example/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  scope: 'openid notes:read',
  id_token_signed_response_alg: 'ES256',
};

/** Creates the endpoint, and records its calls. */
function start({ client = CLIENT, secret = null as string | null } = {}) {
  const asked: unknown[] = [];
  const registrations = {
    async register(sent, initialAccessToken, address) {
      asked.push(['register', sent, initialAccessToken, address]);
      return { client, secret, registrationAccessToken: 'the-token' };
    },
    async find(clientId, token) {
      asked.push(['find', clientId, token]);
      return client;
    },
    async replace(found, token, sent, address) {
      asked.push(['replace', found.id, token, sent, address]);
      return { ...client, name: 'Renamed' };
    },
    renewSecret: async () => null,
    end: async ({ id }) => void asked.push(['end', id]),
  } satisfies Partial<Registrations>;
  const server = {
    host: { clientAddress: () => '192.0.2.1' },
    pruning: { tick: async () => void asked.push('pruned') },
    demands: demands(),
    furtherMetadata: NO_FIELDS,
    issuer: ISSUER,
  } as unknown as Server;
  const endpoint = new RegisterEndpoint(registrations as unknown as Registrations, server);
  const ask = async (method: string, query = '', init: RequestInit = {}) => {
    const request = new Request(`${AT}${query}`, { method, ...init });
    const { status, headers, body } = await endpoint.answer(request);
    return {
      status,
      headers,
      told: body === null ? null : (JSON.parse(String(body)) as unknown),
      request,
    };
  };
  return { asked, ask };
}

const send = (value: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify(value),
});
const bearing = (token: string) => ({ Authorization: `Bearer ${token}` });
const OWN = { headers: bearing('the-token') };

describe('POST to the registration endpoint', () => {
  test('registers a client and returns all its metadata, with no-store', async () => {
    const { ask, asked } = start();
    const sent = { client_name: 'Notebook' };
    const { status, headers, told } = await ask('POST', '', send(sent));
    expect([status, told]).toEqual([201, TOLD]);
    expect(headers).toEqual({ ...JSON_TYPE, ...NEVER_STORED });
    expect(asked).toEqual([['register', sent, null, '192.0.2.1'], 'pruned']);
  });

  test('returns a secret once, which does not expire', async () => {
    const { ask } = start({ client: { ...CLIENT, public: false }, secret: 'the secret' });
    expect((await ask('POST', '', send({}))).told).toEqual({
      ...TOLD,
      token_endpoint_auth_method: 'client_secret_basic',
      client_secret: 'the secret',
      client_secret_expires_at: 0,
    });
  });

  test('passes on the initial access token of the request', async () => {
    const { ask, asked } = start();
    await ask('POST', '', send({}, bearing('an-initial-one')));
    expect(asked[0]).toEqual(['register', {}, 'an-initial-one', '192.0.2.1']);
  });

  test('returns empty response_types to a client without authorization_code', async () => {
    const { ask } = start({ client: { ...CLIENT, grants: ['client_credentials'] } });
    expect((await ask('POST', '', send({}))).told).toMatchObject({
      grant_types: ['client_credentials'],
      response_types: [],
    });
  });

  test('accepts U+FFFD in a name', async () => {
    const { ask, asked } = start();
    const body = JSON.stringify({ client_name: 'A \u{FFFD} shop' });
    const headers = { ...JSON_TYPE, 'Content-Length': String(Buffer.byteLength(body)) };
    expect((await ask('POST', '', { headers, body })).status).toBe(201);
    expect(asked[0]).toEqual(expect.arrayContaining([{ client_name: 'A \u{FFFD} shop' }]));
  });

  test.each<[string, RequestInit, string, string | null]>([
    [
      'no media type',
      { body: new Uint8Array([123, 125]) },
      'The body must be application/json.',
      'it has no Content-Type',
    ],
    [
      'another media type',
      { body: '{}', headers: { 'Content-Type': 'text/plain' } },
      'The body must be application/json.',
      'its Content-Type is "text/plain"',
    ],
    ['malformed JSON', { body: '{', headers: JSON_TYPE }, 'The body is not JSON.', null],
    [
      'text that is not UTF-8',
      { body: new Uint8Array([255]), headers: JSON_TYPE },
      'The body is not UTF-8.',
      null,
    ],
    ['a list', { body: '[]', headers: JSON_TYPE }, 'The body must be a JSON object.', null],
    ['null', { body: 'null', headers: JSON_TYPE }, 'The body must be a JSON object.', null],
    ['a text', { body: '"x"', headers: JSON_TYPE }, 'The body must be a JSON object.', null],
  ])('with a body of %s is refused without a registration', async (_, init, message, detail) => {
    const { ask, asked } = start();
    const refused = ask('POST', '', init);
    await expect(refused).rejects.toBeInstanceOf(OAuthError);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', message, detail });
    expect(asked).toEqual([]);
  });

  test('with a body that is incomplete or too large is refused', async () => {
    const { ask, asked } = start();
    const pull = (controller: ReadableStreamDefaultController) =>
      controller.error(new Error('gone'));
    const broken = {
      headers: JSON_TYPE,
      body: new ReadableStream({ pull }),
      duplex: 'half',
    } as RequestInit;
    await expect(ask('POST', '', broken)).rejects.toMatchObject({ message: 'The body broke off.' });
    const long = JSON.stringify({ client_name: 'x'.repeat(64 * 1024 - 18) });
    expect(long).toHaveLength(64 * 1024);
    expect((await ask('POST', '', { headers: JSON_TYPE, body: long })).status).toBe(201);
    asked.length = 0;
    const tooLong = ask('POST', '', { headers: JSON_TYPE, body: `${long} ` });
    await expect(tooLong).rejects.toBeInstanceOf(BodyTooLargeError);
    await expect(tooLong).rejects.toThrow('The body is larger than 64 KiB.');
    expect(asked).toEqual([]);
  });

  test('with an Authorization scheme but no token is refused', async () => {
    const { ask, asked } = start();
    const refused = ask('POST', '', send({}, { Authorization: 'Bearer' }));
    await expect(refused).rejects.toBeInstanceOf(BearerError);
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_request',
      scope: null,
      detail: 'the Authorization header has the scheme Bearer, but no token',
    });
    expect(asked).toEqual([]);
  });
});

describe('the registration of a client', () => {
  const ONE = '?client_id=notebook';

  test('is returned for its token, and the log names the client', async () => {
    const { ask, asked } = start();
    const { status, headers, told, request } = await ask('GET', ONE, OWN);
    expect([status, told]).toEqual([200, TOLD]);
    expect(headers).toEqual({ ...JSON_TYPE, ...NEVER_STORED });
    expect(asked).toEqual([['find', 'notebook', 'the-token']]);
    expect(notedClient(request)).toBe('notebook');
  });

  test('can be replaced', async () => {
    const { ask, asked } = start();
    const sent = { client_name: 'Renamed' };
    const { status, told } = await ask('PUT', ONE, send(sent, bearing('the-token')));
    expect([status, told]).toEqual([200, { ...TOLD, client_name: 'Renamed' }]);
    expect(asked[1]).toEqual(['replace', 'notebook', 'the-token', sent, '192.0.2.1']);
  });

  test('is deleted, with an empty response', async () => {
    const { ask, asked } = start();
    const { status, headers, told } = await ask('DELETE', ONE, OWN);
    expect([status, headers, told]).toEqual([204, NEVER_STORED, null]);
    expect(asked[1]).toEqual(['end', 'notebook']);
  });

  test('is not found without an id in the URL', async () => {
    const { ask, asked } = start();
    await ask('GET', '', OWN);
    expect(asked).toEqual([['find', '', 'the-token']]);
  });

  test.each(['GET', 'PUT', 'DELETE'])('needs a token: %s', async (method) => {
    const { ask, asked } = start();
    for (const headers of [{}, { Authorization: `Basic ${btoa('notebook:secret')}` }]) {
      const refused = ask(method, ONE, { headers });
      await expect(refused).rejects.toBeInstanceOf(BearerError);
      await expect(refused).rejects.toMatchObject({
        code: 'missing_token',
        scope: null,
        detail: 'no registration access token was sent',
      });
    }
    expect(asked).toEqual([]);
  });
});
