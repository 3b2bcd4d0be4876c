// @engines sqlite: nothing is stored
import { describe, expect, test } from 'vitest';
import { headerOf, newKey, signed } from '../../../../../test/support/assertions.ts';
import { JWT_ASSERTION, JWT_SVID_ASSERTION } from '../../clients/reading-assertions.ts';
import type { Clients } from '../../clients/clients.ts';
import type { SecurityProfile } from '../../profiles.ts';
import { createParameters } from '../../parameters.ts';
import type { Server } from '../../server.ts';
import { JWT_BEARER_GRANT, workloadGrant } from './assertion-grant.ts';
import { examineWorkloads } from './examination.ts';
import { workloadIdentity } from './index.ts';

const CLUSTER = 'https://cluster.example';
const DOMAIN = 'spiffe://example.org';
const KEY = newKey('ES256');
const tokenOf = (claims: object) => signed(KEY, headerOf(KEY), { ...claims });

/** Creates a server that trusts these issuers. `clients` are the workloads of its clients. */
function createServer(
  issuers: readonly string[],
  clients: Readonly<Record<string, object | null>> = {},
  servers: SecurityProfile | null = null,
): Server {
  return {
    issuer: 'https://app.example',
    profiles: { servers },
    trustedIssuers: {
      trusts: (issuer: string, asserts: string) =>
        asserts === 'clients' && issuers.includes(issuer),
      trustedWith: () => issuers,
    },
    store: { clients: { findClient: async (id: string) => clients[id] ?? null } },
  } as unknown as Server;
}

/** Returns the fields of the converted request, or null if the request stays as it is. */
async function converted(
  server: Server,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const request = new Request('https://app.example/oauth/token', { method: 'POST', headers });
  const form = createParameters(new URLSearchParams(fields));
  const found = await workloadGrant(server)(request, form);
  return found === null ? null : Object.fromEntries(found.values);
}

const TOKEN = tokenOf({ iss: CLUSTER, sub: 'reports' });
const FORM = { grant_type: JWT_BEARER_GRANT, assertion: TOKEN, client_id: 'one' };
const CONVERTED = {
  client_id: 'one',
  grant_type: 'client_credentials',
  client_assertion: TOKEN,
  client_assertion_type: JWT_ASSERTION,
};

describe('a token request with the token of a workload', () => {
  const server = createServer([CLUSTER, DOMAIN]);

  test('becomes one with a client assertion, and keeps its other fields', async () => {
    expect(await converted(server, FORM)).toEqual(CONVERTED);
    const more = { scope: 'a', resource: 'https://api.example', empty: '' };
    expect(await converted(server, { ...FORM, ...more })).toEqual({
      ...CONVERTED,
      scope: 'a',
      resource: 'https://api.example',
    });
  });

  test.each([
    ['another grant', { grant_type: 'client_credentials' }],
    ['no assertion', { assertion: '' }],
    ['no client', { client_id: '' }],
    ['a secret', { client_secret: 'x' }],
    ['a client assertion', { client_assertion: 'x' }],
    ['the type of a client assertion', { client_assertion_type: 'x' }],
  ])('stays as it is with %s', async (_, fields) => {
    expect(await converted(server, { ...FORM, ...fields })).toBeNull();
  });

  test('stays as it is with credentials in the header', async () => {
    expect(await converted(server, FORM, { Authorization: 'Basic x' })).toBeNull();
  });
});

describe('the type of the token', () => {
  const SVID = tokenOf({ sub: `${DOMAIN}/reports` });
  const BOTH = tokenOf({ iss: CLUSTER, sub: `${DOMAIN}/reports` });
  const typeOf = async (server: Server, assertion: string, client = 'one') =>
    (await converted(server, { ...FORM, assertion, client_id: client }))?.['client_assertion_type'];

  test('comes from the issuer that it names', async () => {
    const server = createServer([CLUSTER, DOMAIN]);
    expect(await typeOf(server, TOKEN)).toBe(JWT_ASSERTION);
    expect(await typeOf(server, SVID)).toBe(JWT_SVID_ASSERTION);
    expect(await typeOf(createServer([CLUSTER]), BOTH)).toBe(JWT_ASSERTION);
    expect(await typeOf(createServer([DOMAIN]), BOTH)).toBe(JWT_SVID_ASSERTION);
    const own = tokenOf({ iss: DOMAIN, sub: 'reports' });
    expect(await typeOf(server, own)).toBe(JWT_SVID_ASSERTION);
  });

  test('is that of SPIFFE if no trusted issuer is named, or it is no token', async () => {
    for (const assertion of ['x', 'a.b.c', tokenOf({}), tokenOf({ iss: [CLUSTER] }), TOKEN])
      expect(await typeOf(createServer([]), assertion)).toBe(JWT_SVID_ASSERTION);
  });

  test('is that of the client if the token names two trusted issuers', async () => {
    const clients = {
      domain: { keys: { workload: { issuer: DOMAIN } } },
      cluster: { keys: { workload: { issuer: CLUSTER } } },
      keys: { keys: {} },
      secret: { keys: null },
    };
    const server = createServer([CLUSTER, DOMAIN], clients);
    expect(await typeOf(server, BOTH, 'domain')).toBe(JWT_SVID_ASSERTION);
    for (const client of ['cluster', 'keys', 'secret', 'unknown'])
      expect(await typeOf(server, BOTH, client)).toBe(JWT_ASSERTION);
    // A token with one trusted issuer does not need the client.
    expect(await typeOf(server, TOKEN, 'domain')).toBe(JWT_ASSERTION);
  });
});

describe('a server', () => {
  const start = (server: Server, config: object) => {
    const { examination, ...others } = workloadIdentity.start?.(server, config as never) ?? {};
    return { examination, others: others as Readonly<Record<string, unknown>> };
  };
  const ON = { workload_identity: true };
  const profile = (...authenticationMethods: readonly string[]) =>
    ({ authenticationMethods }) as unknown as SecurityProfile;

  test('accepts workloads only with the setting and a trusted issuer', () => {
    for (const config of [{}, { workload_identity: false }])
      expect(start(createServer([CLUSTER]), config).others).toEqual({});
    expect(start(createServer([]), ON).others).toEqual({});
    expect(start(createServer([CLUSTER]), ON).others).toMatchObject({
      workloads: [{ type: JWT_ASSERTION }],
      metadataValues: { grant_types_supported: [JWT_BEARER_GRANT] },
    });
  });

  test('gives them tokens only if its profile allows one of their types', () => {
    const names = (servers: SecurityProfile | null) =>
      Object.keys(start(createServer([CLUSTER, DOMAIN], {}, servers), ON).others);
    const all = ['workloads', 'assertionGrant', 'metadataValues'];
    expect(names(null)).toEqual(all);
    expect(names(profile(JWT_ASSERTION))).toEqual(all);
    expect(names(profile(JWT_SVID_ASSERTION))).toEqual(all);
    expect(names(profile('private_key_jwt'))).toEqual(['workloads']);
  });

  test('examines workloads only if its tables exist', async () => {
    const clients = { page: async () => ({ items: [WORKLOAD('one')], next: null }) };
    const { examination } = start(createServer([]), {});
    const made = examination?.({ clients } as never);
    const found = async (appliedAt: number | null) =>
      made?.findings?.({ migrations: async () => [{ name: 'a', appliedAt }] } as never);
    expect([made?.part, made?.of]).toEqual(['workloads', 'registered clients']);
    expect(await found(null)).toEqual([]);
    expect(await found(1)).toHaveLength(1);
  });
});

const WORKLOAD = (id: string, issuer = CLUSTER, revokedAt: number | null = null) => ({
  id,
  keys: { workload: { issuer } },
  revokedAt,
});

describe('the doctor', () => {
  const examine = (items: readonly object[], isOn = true) =>
    examineWorkloads(
      { page: async () => ({ items, next: null }) } as unknown as Clients,
      createServer([CLUSTER]).trustedIssuers,
      isOn,
    );
  const others = [
    { id: 'secret', keys: null, revokedAt: null },
    { id: 'keys', keys: {}, revokedAt: null },
    WORKLOAD('revoked', 'https://other.example', 1),
  ];

  test('counts workloads that can authenticate, and no other clients', async () => {
    expect(await examine(others)).toEqual([]);
    expect(await examine([...others, WORKLOAD('one'), WORKLOAD('two')])).toEqual([
      { outcome: 'ok', detail: 'clients that authenticate as workloads: 2', remedy: null },
    ]);
  });

  test('reports workloads that cannot authenticate', async () => {
    const other = WORKLOAD('three', 'https://other.example');
    expect(await examine([...others, WORKLOAD('one'), other])).toEqual([
      {
        outcome: 'failing',
        detail:
          'the issuer of these workloads is not trusted to authenticate clients, so these ' +
          'clients cannot authenticate: three',
        remedy:
          "add the issuer to oauth_server:trusted_issuers with asserts: ['clients'], or revoke " +
          'these clients (npx portico oauth:client:revoke)',
      },
    ]);
    expect(await examine([...others, WORKLOAD('one'), other], false)).toEqual([
      {
        outcome: 'failing',
        detail:
          'oauth_server:workload_identity is off, so these clients cannot authenticate: one, three',
        remedy:
          'set oauth_server:workload_identity to true, or revoke these clients (npx portico ' +
          'oauth:client:revoke)',
      },
    ]);
  });
});
