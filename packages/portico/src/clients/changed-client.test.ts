import { describe, expect, test } from 'vitest';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';
import { newKey } from '../../../../test/support/assertions.ts';
import { profilesWith } from '../../../../test/support/profiles.ts';
import { GRANT_TYPES as OF_THE_CORE } from '../grants/grant-types.ts';
import { Profiles, type OfferedProfile } from '../profiles.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import { demands } from '../store/client-demands.fixture.ts';
import { GrantTypes, type GrantRules } from '../store/grant-types.ts';
import { NO_FIELDS } from '../store/no-fields.fixture.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import { changedClient, type ClientChanges } from './changed-client.ts';
import { newClient } from './new-client.ts';
import { checkRegistration, type ClientRegistration } from './registration.ts';

const DEVICE: GrantRules = { name: 'device', begins: 'person', clients: 'any' };
const WORKLOAD = { issuer: 'https://ci.example', subject: 'repo:a/b' };
const WEB: ClientRegistration = {
  name: 'Notebook',
  redirectUris: ['https://client.example/callback'],
  scopes: ['notes:read'],
};
const SERVICE: ClientRegistration = {
  name: 'Robot',
  scopes: ['notes:read'],
  grants: ['client_credentials'],
};

/** A server that has also the grant type `device`, unless it is off. */
function serverWith({ device = true, trusts = true } = {}): Server {
  const grantTypes = new GrantTypes([...(device ? [DEVICE] : []), ...OF_THE_CORE]);
  return {
    scopes: createScopeCatalog({ 'notes:read': 'Read notes', 'notes:write': 'Write notes' }),
    keys: { algorithms: ALGORITHMS, all: async () => [{ algorithm: 'ES256' }] },
    takesKeys: () => true,
    grantTypes: () => grantTypes,
    demands: demands(),
    furtherMetadata: NO_FIELDS,
    profiles: profilesWith({ private_key_jwt: true }),
    trustedIssuers: { trusts: () => trusts },
    fetching: {},
  } as unknown as Server;
}

async function registered(registration: ClientRegistration): Promise<Client> {
  const begun = { id: 'a', registeredBy: 'operator', secretHash: null, createdAt: 0 } as const;
  return newClient(await checkRegistration(registration, serverWith()), begun);
}

const changed = (client: Client, changes: ClientChanges, server = serverWith()) =>
  changedClient(client, changes, server);

describe('a client with a grant that the server no longer offers', () => {
  const off = serverWith({ device: false });
  const given = async (...grants: readonly string[]) => ({
    ...(await registered({ ...WEB, grants: ['authorization_code', 'refresh_token'] })),
    grants,
  });

  test('keeps all its grants, in their order, if something else changes', async () => {
    const client = await given('device', 'refresh_token', 'authorization_code');
    expect(await changed(client, { name: 'Renamed' }, off)).toEqual({ ...client, name: 'Renamed' });
  });

  test('keeps it behind the others if they change', async () => {
    const client = await given('device', 'authorization_code', 'refresh_token');
    const { grants } = await changed(client, { addGrants: ['client_credentials'] }, off);
    expect(grants).toEqual(['authorization_code', 'refresh_token', 'client_credentials', 'device']);
    const fewer = await changed(client, { removeGrants: ['refresh_token'] }, off);
    expect(fewer.grants).toEqual(['authorization_code', 'device']);
    const another = { addGrants: ['introspection'], removeGrants: ['refresh_token'] };
    expect((await changed(client, another, off)).grants).toEqual([
      'authorization_code',
      'introspection',
      'device',
    ]);
  });

  test('cannot get it again', async () => {
    await expect(
      changed(await given('authorization_code'), { addGrants: ['device'] }, off),
    ).rejects.toThrow('The grant "device" is unknown');
  });

  test('can be renamed even if it has no other scope or grant', async () => {
    const client = { ...(await registered(SERVICE)), grants: ['device'], scopes: ['notes:old'] };
    expect(await changed(client, { name: 'Renamed' }, off)).toEqual({ ...client, name: 'Renamed' });
    const old = { ...(await registered(SERVICE)), scopes: ['notes:old'] };
    expect(await changed(old, { name: 'Renamed' }, off)).toEqual({ ...old, name: 'Renamed' });
    const right = { addScopes: ['notes:read'] };
    await expect(changed(client, right, off)).rejects.toThrow('The client has no grant');
  });
});

test('a client keeps the algorithm of its ID tokens if it is renamed', async () => {
  const asking = { scopes: ['openid'], idTokenSignedResponseAlg: 'ES256' };
  const client = await registered({ ...WEB, ...asking });
  expect(await changed(client, { name: 'Renamed' })).toEqual({ ...client, name: 'Renamed' });
});

test('a profile is unknown to a server without profiles', async () => {
  const server = { ...serverWith(), profiles: new Profiles([]) };
  await expect(checkRegistration({ ...WEB, profile: 'fapi2' }, server)).rejects.toThrow(
    /^The profile "fapi2" is unknown$/,
  );
});

test('each way to begin access that refresh_token could continue is named', async () => {
  await expect(
    changed(await registered(WEB), {
      removeGrants: ['authorization_code'],
      removeRedirectUris: WEB.redirectUris ?? [],
    }),
  ).rejects.toThrow('The grant refresh_token needs device or authorization_code; add or keep');
});

test('a private-use scheme without a dot is allowed only by name', async () => {
  const client = await registered({ ...WEB, public: true, applicationType: 'native' });
  const uri = 'notebook:/callback';
  const changes = { addRedirectUris: [uri] };
  await expect(changed(client, changes)).rejects.toThrow(/notebook/);
  const { redirectUris } = await changed(client, { ...changes, allowedSchemes: ['notebook'] });
  expect(redirectUris).toEqual([...client.redirectUris, uri]);
});

describe('a client that authenticates as a workload', () => {
  const { jwk } = newKey('ES256');

  test('stays one if something else changes, even if its issuer is no longer trusted', async () => {
    const client = await registered({ ...SERVICE, workload: WORKLOAD });
    expect(client.keys?.workload).toEqual(WORKLOAD);
    const server = serverWith({ trusts: false });
    expect(await changed(client, { name: 'Renamed' }, server)).toEqual({
      ...client,
      name: 'Renamed',
    });
  });

  test('stays within a profile that allows only workloads', async () => {
    const profile = {
      name: 'workloads',
      idTokenAlgorithms: ['ES256'],
      isServers: true,
      missing: [],
      registrationProblem: ({ keys }) =>
        keys?.workload?.issuer === WORKLOAD.issuer ? null : 'it is no workload',
    } satisfies Partial<OfferedProfile> as Partial<OfferedProfile> as OfferedProfile;
    const server = { ...serverWith(), profiles: new Profiles([profile]) };
    const workload = await registered({ ...SERVICE, workload: WORKLOAD });
    expect((await changed(workload, { name: 'Renamed' }, server)).name).toBe('Renamed');
    await expect(changed(await registered(SERVICE), { name: 'Renamed' }, server)).rejects.toThrow(
      'The profile workloads does not allow this client: it is no workload',
    );
  });

  test('gets no keys, and neither does a client with a secret', async () => {
    for (const registration of [SERVICE, { ...SERVICE, workload: WORKLOAD }])
      await expect(
        changed(await registered(registration), { jwks: { keys: [jwk] } }),
      ).rejects.toThrow(
        'This client does not authenticate with keys, so its keys cannot be changed',
      );
  });
});
