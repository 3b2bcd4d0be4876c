// @engines sqlite: the database makes no difference
import { mkdir, readFile, rename, rmdir } from 'node:fs/promises';
import { startApplication } from '@portico/kit';
import { mcp } from '@portico/mcp';
import { oauthServer } from 'portico';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import catalog from '../examples/catalog/app.ts';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  obtainCode,
  registerClient,
  REDIRECT_URI,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/**
 * Clients without an operator request every scope in the metadata, and get those that they can
 * have.
 */

const SERVICE = { 'mcp:service': { label: 'Discover tools', permission: 'notes:read' } };
const KEYLESS = ['profile', 'email', 'notes:read', 'notes:write'];
/**
 * With the scopes of a service and of a missing key, like clients that read the metadata earlier.
 */
const ALL = ['openid', ...KEYLESS, 'mcp:service'].join(' ');

type Granted = {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
};

let host: DocumentHost;
const open: RunningPortal[] = [];

beforeAll(async () => {
  host = await startDocumentHost();
});
afterAll(async () => {
  for (const each of open) await each.close();
  await host.close();
});

async function start(switches: object, options: object = {}): Promise<RunningPortal> {
  const portal = await startPortal({
    outbound: host.outbound,
    config: { oauth_server: { scopes: SERVICE, ...switches } },
    ...options,
  });
  open.push(portal);
  return portal;
}

async function scopesAt(portal: RunningPortal, document: string): Promise<unknown> {
  const response = await fetch(`${portal.url}/.well-known/${document}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { scopes_supported?: unknown }).scopes_supported;
}

async function register(portal: RunningPortal, metadata: object = {}): Promise<TestClient> {
  const response = await fetch(`${portal.url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code', 'refresh_token'],
      ...metadata,
    }),
  });
  expect(response.status).toBe(201);
  const { client_id: id } = (await response.json()) as { client_id: string };
  return { id, secret: '' };
}

async function token(portal: RunningPortal, { id }: TestClient, form: Record<string, string>) {
  return requestToken(portal, null, { client_id: id, ...form });
}

async function grantedTo(
  portal: RunningPortal,
  client: TestClient,
  visitor: Visitor,
  scope: string,
): Promise<Granted> {
  const code = await obtainCode(portal, client, visitor, { scope });
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  const response = await token(portal, client, { ...form, code_verifier: VERIFIER });
  expect(response.status).toBe(200);
  return (await response.json()) as Granted;
}

/**
 * Returns from the log why the server refuses a request for these scopes. It does not redirect the
 * browser to an unverified client.
 */
async function refusedAt(
  portal: RunningPortal,
  client: TestClient,
  visitor: Visitor,
  scope: string,
) {
  const answer = await visitor.visit(authorizationUrl(portal, client, { scope }));
  const id = answer.headers.get('x-request-id') ?? '';
  const log = await readFile(`${portal.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8');
  const line = log.split('\n').find((each) => each.includes(id)) ?? '{}';
  const { error, detail } = JSON.parse(line) as { error?: string; detail?: string };
  return [error, detail];
}

describe.each([
  ['open registration', { registration: 'open' }],
  ['registration by initial access token', { registration: 'initial_access_token' }],
  ['client metadata documents', { client_id_metadata_documents: true }],
])('with %s', (_, switches) => {
  let portal: RunningPortal;
  beforeAll(async () => {
    portal = await start(
      {},
      {
        signingKey: false,
        config: (url: string) => ({
          oauth_server: { scopes: SERVICE, ...switches, challenge: true, audience: `${url}/api` },
        }),
      },
    );
  });

  // @shows AS-6.25
  test('the metadata lists no service scope, and openid only once there is a signing key', async () => {
    const documents = ['oauth-authorization-server', 'openid-configuration'];
    for (const each of documents) expect(await scopesAt(portal, each)).toEqual(KEYLESS);
    expect(await scopesAt(portal, 'oauth-protected-resource/api')).toEqual([
      'notes:read',
      'notes:write',
    ]);
    await portal.server.keys.generate();
    for (const each of documents)
      expect(await scopesAt(portal, each)).toEqual(['openid', ...KEYLESS]);
  });
});

describe('without registration or client documents', () => {
  let portal: RunningPortal;
  beforeAll(async () => {
    portal = await start(
      {},
      {
        signingKey: false,
        config: (url: string) => ({
          oauth_server: { scopes: SERVICE, challenge: true, audience: `${url}/api` },
        }),
      },
    );
  });

  // @shows AS-6.25
  test('the metadata lists every scope', async () => {
    for (const each of ['oauth-authorization-server', 'openid-configuration']) {
      expect(await scopesAt(portal, each)).toEqual(['openid', ...KEYLESS, 'mcp:service']);
    }
    const own = ['notes:read', 'notes:write', 'mcp:service'];
    expect(await scopesAt(portal, 'oauth-protected-resource/api')).toEqual(own);
  });

  // @shows AS-7.19
  test('a client that registered itself earlier is refused scopes that it cannot have', async () => {
    const on = await start(
      {},
      {
        signingKey: false,
        databaseUrl: portal.env['DATABASE_URL'],
        config: (url: string) => ({
          oauth_server: { scopes: SERVICE, registration: 'open', audience: `${url}/api` },
        }),
      },
    );
    const client = await register(on);
    const ada = await portal.signedIn(ADA);
    expect((await refusedAt(portal, client, ada, ALL))[0]).toBe('invalid_scope');
    expect((await refusedAt(portal, client, ada, 'openid notes:read'))[0]).toBe('invalid_scope');
  });
});

describe('a client that registered itself', () => {
  let portal: RunningPortal;
  let ada: Visitor;
  let client: TestClient;

  beforeAll(async () => {
    portal = await start(
      { registration: 'open', pushed_authorization_requests: 'accept' },
      { signingKey: false },
    );
    ada = await portal.signedIn(ADA);
    client = await register(portal);
  });

  // @shows AS-7.19
  test('can request all scopes, and gets those that it can have; the person sees only these', async () => {
    const page = await (await ada.visit(authorizationUrl(portal, client, { scope: ALL }))).text();
    expect(page).toContain('Read your notes');
    expect(page).not.toContain('Discover tools');
    expect(page).not.toContain('value="openid"');
    const tokens = await grantedTo(portal, client, ada, ALL);
    expect(tokens.scope).toBe(KEYLESS.join(' '));
    expect(tokens).not.toHaveProperty('id_token');
  });

  // @shows AS-7.19
  test('is refused if no requested scope is left, or for an unknown scope', async () => {
    for (const [scope, told] of [
      ['mcp:service', 'not registered for this client: "mcp:service"'],
      ['notes:read unheard:of', 'not registered for this client: "unheard:of"'],
      ['openid', 'there is no signing key in'],
      ['openid mcp:service', 'there is no signing key in'],
    ] as const) {
      const detail = expect.stringContaining(told) as string;
      expect(await refusedAt(portal, client, ada, scope)).toEqual(['invalid_scope', detail]);
    }
  });

  // @shows AS-7.19
  test('can push a request for all scopes, and is granted those that it can have', async () => {
    const asked = new URL(authorizationUrl(portal, client, { scope: ALL })).searchParams;
    const pushed = await fetch(`${portal.url}/oauth/par`, { method: 'POST', body: asked });
    expect(pushed.status).toBe(201);
    const { request_uri: requestUri } = (await pushed.json()) as { request_uri: string };
    const query = new URLSearchParams({ client_id: client.id, request_uri: requestUri });
    const consent = await ada.visit(`${portal.url}/oauth/authorize?${query}`);
    const answer = locationOf(await ada.submit(consent, { decision: 'allow' }));
    const response = await token(portal, client, {
      grant_type: 'authorization_code',
      code: answer.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    });
    expect(await response.json()).toMatchObject({ scope: KEYLESS.join(' ') });
  });

  // @shows AS-7.19
  test('refreshes with the scopes that its first request was granted', async () => {
    const { refresh_token: first } = await grantedTo(
      portal,
      client,
      ada,
      `openid notes:read mcp:service`,
    );
    const refreshWith = (refresh_token: string, scope: string) =>
      token(portal, client, { grant_type: 'refresh_token', refresh_token, scope });
    const again = await refreshWith(first, 'openid notes:read mcp:service');
    expect(again.status).toBe(200);
    const { scope, refresh_token: next } = (await again.json()) as Granted;
    expect(scope).toBe('notes:read');
    for (const beyond of ['notes:read notes:write', 'notes:read unheard:of', 'mcp:service']) {
      expect(await (await refreshWith(next, beyond)).json()).toMatchObject({
        error: 'invalid_scope',
      });
    }
    expect((await refreshWith(next, 'notes:read')).status).toBe(200);
  });

  // @shows AS-7.19
  test('does not change that an operator-registered client is refused the same request', async () => {
    const own = await registerClient(portal, { scopes: ['openid', 'notes:read'], public: true });
    expect((await refusedAt(portal, own, ada, 'notes:read notes:write'))[0]).toBe('invalid_scope');
    expect((await refusedAt(portal, own, ada, 'openid notes:read'))[0]).toBe('invalid_scope');
  });

  // @shows AS-7.19, AS-6.25
  test('is granted openid once there is a key, and continues without it while keys are lost', async () => {
    const before = await grantedTo(portal, client, ada, ALL);
    await portal.server.keys.generate();
    const after = await grantedTo(portal, client, ada, ALL);
    expect(after.scope).toBe(`openid ${KEYLESS.join(' ')}`);
    expect(after).toHaveProperty('id_token');
    const scope = `openid ${KEYLESS.join(' ')}`;
    const refreshed = await token(portal, client, {
      grant_type: 'refresh_token',
      refresh_token: before.refresh_token,
      scope,
    });
    expect(await refreshed.json()).toMatchObject({ scope: KEYLESS.join(' ') });

    expect(await scopesAt(portal, 'oauth-authorization-server')).toEqual(['openid', ...KEYLESS]);
    const keys = `${portal.env['STORAGE_DIR'] ?? ''}/oauth/keys`;
    await rename(keys, `${keys}-lost`);
    try {
      await mkdir(keys);
      expect(await scopesAt(portal, 'oauth-authorization-server')).toEqual(['openid', ...KEYLESS]);
      expect(
        (await ada.visit(authorizationUrl(portal, client, { scope: 'notes:read' }))).status,
      ).toBe(200);
    } finally {
      await rmdir(keys);
      await rename(`${keys}-lost`, keys);
    }
  });
});

describe('a client with a metadata document', () => {
  let portal: RunningPortal;
  const clock = createClock();

  beforeAll(async () => {
    portal = await start({ client_id_metadata_documents: true }, { clock: clock.now });
  });
  // Time passes, because the limits of a minute must not apply to the next file.
  afterEach(() => clock.advance(61));

  // @shows AS-7.19
  test('can request all scopes, and is granted those of its document', async () => {
    const id = host.publish('/narrow.json', {
      client_name: 'Narrow',
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'notes:read profile',
      token_endpoint_auth_method: 'none',
    });
    const ada = await portal.signedIn(ADA);
    const { scope } = await grantedTo(portal, { id, secret: '' }, ada, ALL);
    expect(scope).toBe('profile notes:read');
    expect((await refusedAt(portal, { id, secret: '' }, ada, 'notes:write'))[0]).toBe(
      'invalid_scope',
    );
  });
});

// @shows MCP-3.22
test('the MCP metadata lists the service scope only if an operator registers all clients', async () => {
  const scopes = ['mcp:tools', 'mcp:service'];
  const named = async (switches: object) => {
    const application = await startApplication({
      ...catalog,
      plugins: [oauthServer(), mcp()],
      config: {
        public_url: 'https://app.example',
        oauth_server: {
          name: 'Tools',
          audience: 'https://app.example/mcp',
          scopes: { 'mcp:tools': 'Use your tools', 'mcp:service': 'Discover tools' },
          ...switches,
        },
        mcp: { oauth: { scopes_supported: scopes, challenge: true } },
      },
    });
    try {
      const ask = (at: string, init: RequestInit = {}) =>
        application.fetch(new Request(`https://app.example${at}`, init));
      const metadata = await ask('/.well-known/oauth-protected-resource/mcp');
      const headers = { 'Content-Type': 'application/json' };
      const refused = await ask('/mcp', { method: 'POST', headers, body: '{}' });
      const challenge = refused.headers.get('www-authenticate') ?? '';
      const document = (await metadata.json()) as { scopes_supported: unknown };
      return [document.scopes_supported, /scope="([^"]*)"/.exec(challenge)?.[1]];
    } finally {
      await application.close();
    }
  };
  expect(await named({ registration: 'open' })).toEqual([['mcp:tools'], 'mcp:tools']);
  expect(await named({ client_id_metadata_documents: true })).toEqual([['mcp:tools'], 'mcp:tools']);
  expect(await named({})).toEqual([scopes, 'mcp:tools mcp:service']);
});
