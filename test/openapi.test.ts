import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiText } from '../tools/scripts/openapi.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';
import { undescribed } from './support/description.ts';

/**
 * The description of the endpoints (OpenAPI 3.1). The long form of all tests compares the responses
 * that tests fetch with it: test/support/described-answers.ts.
 */

type Paths = Readonly<
  Record<string, Readonly<Record<string, { readonly operationId: string } | undefined>>>
>;
interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Paths;
}

let portal: RunningPortal;
beforeAll(async () => {
  portal = await startPortal({
    config: {
      base_path: '/auth',
      oauth_server: { openapi: true, device_authorization: true },
    },
  });
});
afterAll(() => portal.close());

const fetched = async () =>
  (await (await fetch(`${portal.server.issuer}/oauth/openapi.json`)).json()) as Document;

describe('the OpenAPI description of the endpoints', () => {
  // @shows AS-55.1
  test('is valid OpenAPI 3.1, with every feature turned on', async () => {
    const document = JSON.parse(await openApiText()) as Record<string, unknown>;
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  });

  // @shows AS-55.2
  test('describes every method of every endpoint', async () => {
    const { paths } = JSON.parse(await openApiText()) as Document;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const names = operations.map((each) => each?.operationId);
    expect(names).toContain('oauth_server_token');
    expect(new Set(names).size).toBe(names.length);
    const own = await fetched();
    const described = Object.entries(own.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const offered = portal.server.endpoints.flatMap(({ methods, path }) =>
      methods.filter((method) => method !== 'OPTIONS').map((method) => `${method} ${path}`),
    );
    expect(described.toSorted()).toEqual(offered.toSorted());
  });

  test('has the issuer origin as its server, and the paths that clients request', async () => {
    const { servers, paths } = await fetched();
    expect(servers).toEqual([{ url: new URL(portal.server.issuer).origin }]);
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/auth/oauth/token', '/.well-known/oauth-authorization-server/auth']),
    );
  });

  test('lists the grant types that the server offers', async () => {
    const { paths } = await fetched();
    expect(JSON.stringify(paths['/auth/oauth/token'])).toContain(
      'urn:ietf:params:oauth:grant-type:device_code',
    );
  });

  // @shows AS-55.1
  test('can be read by pages of any origin, and is answered with 304 if it has not changed', async () => {
    const first = await fetch(`${portal.server.issuer}/oauth/openapi.json`, {
      headers: { Origin: 'https://tools.example' },
    });
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    expect(first.headers.get('content-type')).toBe('application/json');
    const again = await fetch(`${portal.server.issuer}/oauth/openapi.json`, {
      headers: { 'If-None-Match': first.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
  });
});

// @shows AS-55.3, AS-2.55
test('the OpenAPI description is 404 if the setting is off', async () => {
  const off = await startPortal();
  try {
    expect((await fetch(`${off.server.issuer}/oauth/openapi.json`)).status).toBe(404);
  } finally {
    await off.close();
  }
});

describe('the comparison of responses with the description', () => {
  const TOKEN = 'https://app.example/oauth/token';
  const answer = (body: object, status = 200, type = 'application/json') =>
    new Response(JSON.stringify(body), {
      status,
      headers: { 'Content-Type': type, 'X-Request-Id': 'a' },
    });

  test.each([
    ['a status', answer({ error: 'invalid_request' }, 418)],
    ['a media type', answer({ error: 'invalid_request' }, 400, 'text/plain')],
    ['a missing member', answer({ access_token: 'a', token_type: 'Bearer' })],
    [
      'a type',
      answer({ access_token: 'a', token_type: 'Bearer', expires_in: '3600', scope: 'openid' }),
    ],
  ])('reports %s that is not described', async (_, response) => {
    expect(await undescribed('POST', TOKEN, response)).not.toBeNull();
  });

  test('accepts a described response', async () => {
    const tokens = { access_token: 'a', token_type: 'Bearer', expires_in: 3600, scope: 'openid' };
    expect(await undescribed('POST', TOKEN, answer(tokens))).toBeNull();
  });
});
