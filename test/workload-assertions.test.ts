// @engines sqlite: the database makes no difference
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newKey } from './support/assertions.ts';
import { startAssistant } from './support/assistant.ts';
import { ROOT, start } from './support/console.ts';
import { JWT_BEARER } from './support/identity-provider.ts';
import { startClient } from './support/mcp/bare-client.ts';
import {
  callApi,
  errorOf,
  introspect,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import {
  accepting,
  ACCOUNT,
  accountToken,
  CLUSTER,
  jwtSvid,
  registerWorkload,
  SPIFFE_ID,
  startPlatform,
  TRUST_DOMAIN,
  type Platform,
} from './support/workloads.ts';

/** Workloads that send their token as the assertion of a grant (RFC 7523 section 2.1, SEP-1933). */

const PROGRAM = [process.execPath, path.join(ROOT, 'test', 'clients', 'typescript', 'workload.ts')];
const SUITE = path.join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

let home: string;
let cluster: Platform;
let domain: Platform;
let portal: RunningPortal;
let workload: string;
let withSecret: TestClient;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'portico-workload-'));
  [cluster, domain] = [await startPlatform(), await startPlatform('jwt-svid')];
  portal = await startPortal({ config: accepting(issuers()) });
  workload = await registerWorkload(portal);
  withSecret = await registerClient(portal, {
    grants: ['client_credentials'],
    redirectUris: [],
    scopes: ['notes:read'],
  });
});
afterAll(async () => {
  await portal.close();
  await cluster.close();
  await domain.close();
  await rm(home, { recursive: true });
});

const issuers = () => ({ [CLUSTER]: cluster.settings, [TRUST_DOMAIN]: domain.settings });
const token = (changes: Readonly<Record<string, unknown>> = {}) =>
  accountToken(portal, cluster.key, changes);
const ask = (form: Readonly<Record<string, string>>, by: TestClient | null = null, at = portal) =>
  requestToken(at, by, { grant_type: JWT_BEARER, ...form });

// @shows AS-54.8
test('a workload gets an access token with only its platform token, and no refresh token', async () => {
  for (let use = 0; use < 2; use += 1) {
    const response = await ask({ client_id: workload, assertion: token(), scope: 'notes:read' });
    expect(response.status).toBe(200);
    const tokens = (await response.json()) as Tokens;
    expect(tokens).not.toHaveProperty('refresh_token');
    const { access_token: accessToken } = tokens;
    expect(await (await callApi(portal, '/api/whoami', accessToken)).json()).toMatchObject({
      kind: 'application',
    });
    expect(await introspect(portal, accessToken)).toMatchObject({ client_id: workload });
  }
});

// @shows AS-54.8
test('a JWT-SVID is accepted for the client of its trust domain', async () => {
  const client_id = await registerWorkload(portal, { issuer: TRUST_DOMAIN, subject: SPIFFE_ID });
  expect((await ask({ client_id, assertion: jwtSvid(portal, domain.key) })).status).toBe(200);
  const other = { client_id: workload, assertion: jwtSvid(portal, domain.key) };
  expect(await errorOf(await ask(other))).toBe('invalid_grant');
});

// @shows AS-54.8
test.each([
  ['of a different account', () => ({ assertion: token({ sub: `${ACCOUNT}2` }) })],
  ['for a different server', () => ({ assertion: token({ aud: 'https://elsewhere.example' }) })],
  ['that has expired', () => ({ assertion: token({ exp: 1 }) })],
  [
    'with the signature of a different key',
    () => ({ assertion: accountToken(portal, newKey('ES256')) }),
  ],
  ['that is an ID token', () => ({ assertion: token({ nonce: 'n' }) })],
  ['of an unknown client', () => ({ assertion: token(), client_id: 'unknown' })],
  ['of a client with a secret', () => ({ assertion: token(), client_id: withSecret.id })],
  ['of an unknown issuer', () => ({ assertion: token({ iss: 'https://x' }) })],
  ['that is not a JWT', () => ({ assertion: 'a.b.c' })],
])('a platform token %s is an invalid grant', async (_, form) => {
  const response = await ask({ client_id: workload, ...form() });
  expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_grant']);
});

// @shows AS-54.8
test('responses do not reveal which issuers are trusted', async () => {
  const answerTo = async (changes: Readonly<Record<string, unknown>>) => {
    const assertion = accountToken(portal, newKey('ES256'), changes);
    const response = await ask({ client_id: 'x', assertion });
    return [response.status, await response.text()];
  };
  const trusted = await answerTo({});
  expect(trusted[0]).toBe(400);
  expect(await answerTo({ iss: 'https://x' })).toEqual(trusted);
  expect(await answerTo({ sub: SPIFFE_ID, iss: undefined })).toEqual(trusted);
  expect(await answerTo({ sub: 'spiffe://x/y', iss: undefined })).toEqual(trusted);
});

// @shows AS-54.2, AS-54.8
test.each([
  ['the trust domain', TRUST_DOMAIN, () => domain, () => cluster],
  ['the issuer in iss', CLUSTER, () => cluster, () => domain],
])(
  'a SPIFFE ID whose iss is also trusted is accepted for the client of %s',
  async (_, issuer, own, other) => {
    const client_id = await registerWorkload(portal, { issuer, subject: SPIFFE_ID });
    const answerTo = (by: Platform) =>
      ask({ client_id, assertion: jwtSvid(portal, by.key, { iss: CLUSTER }) });
    expect((await answerTo(own())).status).toBe(200);
    expect(await errorOf(await answerTo(other()))).toBe('invalid_grant');
  },
);

// @shows AS-54.8
test.each([
  ['without a client ID', () => ({ assertion: token() })],
  ['that is missing', () => ({ client_id: workload })],
])('a platform token %s does not authenticate the client', async (_, form) => {
  const response = await ask(form());
  expect([response.status, await errorOf(response)]).toEqual([401, 'invalid_client']);
});

// @shows AS-54.8
test('a platform token is refused together with other credentials', async () => {
  const assertion = token();
  expect((await ask({ assertion }, withSecret)).status).toBe(400);
  const form = { client_id: workload, assertion, client_secret: 'x' };
  expect((await ask(form)).status).toBe(401);
  expect((await ask({ ...form, client_secret: '', client_assertion: 'x' })).status).toBe(400);
});

// @shows AS-54.8
test('a client without the grant type client_credentials gets no token', async () => {
  const client_id = await registerWorkload(portal, undefined, { grants: ['introspection'] });
  const response = await ask({ client_id, assertion: token() });
  expect([response.status, await errorOf(response)]).toEqual([400, 'unauthorized_client']);
});

// @shows AS-54.4, AS-54.7, AS-54.8
test('the grant type is in the metadata if an issuer of workloads is trusted', async () => {
  const grantsAt = async (at: RunningPortal) => {
    const response = await fetch(`${at.url}/.well-known/oauth-authorization-server`);
    const { grant_types_supported: grants } = (await response.json()) as Record<string, unknown>;
    return grants;
  };
  const plain = await startPortal({
    config: { oauth_server: { trusted_issuers: issuers() } },
  });
  onTestFinished(() => plain.close());
  expect(await grantsAt(plain)).not.toContain(JWT_BEARER);
  expect(await errorOf(await ask({ client_id: workload, assertion: token() }, null, plain))).toBe(
    'invalid_client',
  );
  expect(await grantsAt(portal)).toContain(JWT_BEARER);
  const both = await startPortal({ config: accepting(issuers(), { jwt_bearer_grant: true }) });
  onTestFinished(() => both.close());
  const names = (await grantsAt(both)) as readonly string[];
  expect(names.filter((name) => name === JWT_BEARER)).toHaveLength(1);
});

// The suite's scenario starts its own server. So the client that calls our tools is tested below.
test('the client passes the conformance suite: auth/wif-jwt-bearer', async () => {
  const command = `${PROGRAM.join(' ')} < /dev/null`;
  const options = ['--command', command, '--scenario', 'auth/wif-jwt-bearer'];
  const run = start([SUITE, 'client', ...options, '--output-dir', home], { cwd: home });
  const code = await run.ended();
  expect({ code, said: code === 0 ? '' : `${run.stdout()}${run.stderr()}` }).toEqual({
    code: 0,
    said: '',
  });
});

// @shows AS-54.8
test('the client calls a tool as a service', async () => {
  const assistant = await startAssistant({
    config: { ...accepting(issuers()), mcp: { oauth: { narrow_service_scope: true } } },
  });
  onTestFinished(() => assistant.close());
  const { client } = await assistant.server.clients.create({
    name: 'Reports',
    scopes: ['mcp:service'],
    grants: ['client_credentials'],
    workload: { issuer: CLUSTER, subject: ACCOUNT },
  });
  const at = { server: assistant.server } as RunningPortal;
  const context = { client_id: client.id, valid_jwt: accountToken(at, cluster.key) };
  const sdk = await startClient(
    {
      name: 'workload',
      command: () => Promise.resolve(PROGRAM),
      env: { MCP_CONFORMANCE_CONTEXT: JSON.stringify(context) },
    },
    [assistant.resource],
    home,
  );
  onTestFinished(() => sdk.close());
  expect(await sdk.next()).toHaveProperty('connected');
  sdk.tell('call service_status');
  expect(await sdk.next()).toHaveProperty('answer');
});
