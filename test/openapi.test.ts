import path from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { ConfigMap } from 'portico';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openApiText } from '../tools/scripts/openapi.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';
import { undescribed } from './support/description.ts';

/**
 * The description of the endpoints (OpenAPI 3.1). The long form of all tests compares the responses
 * that tests fetch with it: test/support/described-answers.ts.
 */

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>;
interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
interface Document {
  readonly info: object;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, object>>;
}

async function openPortal(config: ConfigMap = {}): Promise<RunningPortal> {
  const portal = await startPortal({
    config: {
      base_path: '/auth',
      oauth_server: { openapi: true, device_authorization: true },
      ...config,
    },
  });
  onTestFinished(() => portal.close());
  return portal;
}

async function fetched(portal: RunningPortal): Promise<Document> {
  const response = await fetch(`${portal.server.issuer}/oauth/openapi.json`);
  return (await response.json()) as Document;
}

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
    const names = operations.map(({ operationId }) => operationId);
    expect(names).toEqual(
      expect.arrayContaining(['oauth_server_token', 'oauth_server_userinfo_get']),
    );
    expect(new Set(names).size).toBe(names.length);
    const portal = await openPortal();
    const described = Object.entries((await fetched(portal)).paths).flatMap(([at, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${at}`),
    );
    const offered = portal.server.endpoints.flatMap(({ methods, path: at }) =>
      methods.filter((method) => method !== 'OPTIONS').map((method) => `${method} ${at}`),
    );
    expect(described.toSorted()).toEqual(offered.toSorted());
  });

  test('has the name of the server, and a version that is not that of Portico', async () => {
    const portal = await openPortal();
    const { info } = await fetched(portal);
    expect(info).toEqual({ title: portal.server.config.name, version: '1' });
  });

  test('has the issuer origin as its server, and the paths that clients request', async () => {
    const portal = await openPortal();
    const { servers, paths } = await fetched(portal);
    expect(servers).toEqual([{ url: new URL(portal.server.issuer).origin }]);
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/auth/oauth/token', '/.well-known/oauth-authorization-server/auth']),
    );
  });

  test('lists the paths in alphabetical order', async () => {
    const { paths } = JSON.parse(await openApiText()) as Document;
    expect(Object.keys(paths)).toEqual(Object.keys(paths).toSorted());
  });

  test('lists the grant types that the server offers', async () => {
    const { paths } = await fetched(await openPortal());
    const { schema } = formOf(paths['/auth/oauth/token']?.['post']);
    expect(schema.properties?.['grant_type']?.enum).toEqual(
      expect.arrayContaining(['refresh_token', 'urn:ietf:params:oauth:grant-type:device_code']),
    );
  });

  test('lists what a token request contains', async () => {
    const { paths } = await fetched(await openPortal());
    const token = paths['/auth/oauth/token']?.['post'];
    expect(token?.security).toEqual([{ client_secret_basic: [] }, {}]);
    const { schema } = formOf(token);
    expect(schema.required).toEqual(['grant_type']);
    expect(Object.keys(schema.properties ?? {})).toEqual([
      'grant_type',
      'client_id',
      'client_secret',
      'client_assertion_type',
      'client_assertion',
      'code',
      'redirect_uri',
      'code_verifier',
      'refresh_token',
      'scope',
      'resource',
    ]);
  });

  test('lists what a token response contains', async () => {
    const { paths } = await fetched(await openPortal());
    const answers = paths['/auth/oauth/token']?.['post']?.responses;
    expect(Object.keys(answers ?? {})).toEqual(['200', '400', '401', '413', '429', '500', '503']);
    const schema = answers?.['200']?.content?.['application/json']?.schema;
    expect(schema?.required).toEqual(['access_token', 'token_type', 'expires_in', 'scope']);
    expect(schema?.properties).toEqual({
      access_token: { type: 'string' },
      token_type: { enum: ['Bearer', 'DPoP'] },
      expires_in: { type: 'integer' },
      scope: { type: 'string' },
      refresh_token: { type: 'string' },
      id_token: { type: 'string' },
    });
  });

  test('says that any endpoint can fail: with a page for people, in JSON for clients', async () => {
    const { paths } = await fetched(await openPortal());
    const typesOf = (operation: Operation | undefined) =>
      ['500', '503'].map((status) => Object.keys(operation?.responses[status]?.content ?? {}));
    const page = ['text/html', 'application/json'];
    expect(typesOf(paths['/auth/oauth/authorize']?.['get'])).toEqual([page, page]);
    expect(typesOf(paths['/auth/oauth/token']?.['post'])).toEqual([
      ['application/json'],
      ['application/json'],
    ]);
  });

  test('says how callers send secrets and tokens', async () => {
    const { components } = await fetched(await openPortal());
    const bearer = { type: 'http', scheme: 'bearer' };
    expect(components['securitySchemes']).toMatchObject({
      client_secret_basic: { type: 'http', scheme: 'basic' },
      access_token: bearer,
      registration_access_token: bearer,
    });
  });

  test('has the metadata of each resource, also of the eleventh', async () => {
    const names = Array.from({ length: 11 }, (_, index) => `/api-${index}`);
    const portal = await startPortal({
      config: (url) => ({
        oauth_server: {
          openapi: true,
          resources: Object.fromEntries(
            names.map((name) => [`${url}${name}`, { scopes: ['notes:read'] }]),
          ),
        },
      }),
    });
    onTestFinished(() => portal.close());
    const { paths } = await fetched(portal);
    const metadata = names.map((name) => `/.well-known/oauth-protected-resource${name}`);
    expect(metadata.filter((at) => paths[at]?.['get'] === undefined)).toEqual([]);
  });

  test('does not say how browsers get the logo', async () => {
    const logo = path.join(import.meta.dirname, '..', 'docs', 'diagrams', 'store.svg');
    const { paths } = await fetched(await openPortal({ branding: { logo } }));
    expect(paths['/auth/oauth/branding/logo']).toEqual({});
  });

  // @shows AS-55.1
  test('can be read by pages of any origin, and is answered with 304 if it has not changed', async () => {
    const { server } = await openPortal();
    const first = await fetch(`${server.issuer}/oauth/openapi.json`, {
      headers: { Origin: 'https://tools.example' },
    });
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    expect(first.headers.get('content-type')).toBe('application/json');
    const again = await fetch(`${server.issuer}/oauth/openapi.json`, {
      headers: { 'If-None-Match': first.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
  });
});

/** Returns the form that an operation expects. */
function formOf(operation: Operation | undefined): { readonly schema: Schema } {
  const form = operation?.requestBody?.content['application/x-www-form-urlencoded'];
  if (form === undefined) throw new Error('The operation expects no form');
  return form;
}

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
