import { expect, test } from 'vitest';
import { storedClient } from '../../../../test/support/stored-client.ts';
import type { ClientAuthentication } from '../clients/authentication.ts';
import { BearerTokens } from '../resource/bearer.ts';
import type { Server } from '../server.ts';
import type { GivenAccess } from '../store/given-access.ts';
import type { AccessToken } from '../store/grant.ts';
import { IntrospectEndpoint } from './introspect.ts';

const PERSON = { provider: 'users', id: 'ada' };
const API = storedClient('api', 0, { grants: ['introspection'] });
const GIVEN = { given_by: 'https://idp.example' };

/** Returns the response about a token of Ada, or of a client itself. */
async function introspect(changes: Partial<AccessToken>, given: GivenAccess['refusal'] | null) {
  const token: AccessToken = {
    clientId: 'notes',
    familyId: 'f1',
    scopes: ['openid'],
    clientScopes: ['openid'],
    clientProfile: null,
    audience: null,
    person: PERSON,
    subject: 'public',
    issuedAt: 1000,
    expiresAt: 2000,
    thumbprint: null,
    ...changes,
  };
  const scopes = new Map([['openid', { name: 'openid', permission: null }]]);
  const server = {
    clock: () => 1500,
    store: { accessTokens: { findAccessToken: async () => token } },
    accounts: { active: async () => ({ reference: PERSON }) },
    resources: { tokenRefusal: () => null, scopesOf: () => scopes },
    host: {},
    scopes,
    givenAccess: () => (given === null ? null : { refusal: given }),
  } as unknown as Server;
  const authentication = { authenticate: async () => API } as unknown as ClientAuthentication;
  const bearerTokens = new BearerTokens(server, null);
  const endpoint = new IntrospectEndpoint('https://i.example', authentication, bearerTokens, {
    binding: null,
    describe: (details, place) => ({ described: [details, place] }),
  });
  const body = new URLSearchParams({ token: 'opaque' });
  const request = new Request('https://i.example/introspect', { method: 'POST', body });
  const reply = await endpoint.answer(request);
  return JSON.parse(String(reply.body)) as Readonly<Record<string, unknown>>;
}

test('access of an organization is active only while a feature confirms exactly this access', async () => {
  const asked: unknown[] = [];
  const answering = (refusal: string | null) => async (access: unknown) => {
    asked.push(access);
    return refusal;
  };
  expect(await introspect({ details: GIVEN }, null)).toEqual({ active: false });
  expect(await introspect({ details: GIVEN }, answering('ended'))).toEqual({ active: false });
  expect(await introspect({ details: GIVEN }, answering(null))).toMatchObject({ active: true });
  const access = { person: PERSON, clientId: 'notes', issuedAt: 1000, details: GIVEN };
  expect(asked).toEqual([access, access]);
});

test('no feature confirms access that a person allowed, or that has no person', async () => {
  const refuse = async () => 'asked';
  const ofClient = { person: null, familyId: null, subject: null };
  for (const changes of [{}, { details: { amr: ['pwd'] } }, { ...ofClient, details: GIVEN }])
    expect(await introspect(changes, refuse)).toMatchObject({ active: true });
});

test('features describe the details of a token, if it has any', async () => {
  const details = { amr: ['pwd'] };
  expect(await introspect({ details }, null)).toMatchObject({
    described: [details, 'introspection'],
  });
  expect(await introspect({}, null)).not.toHaveProperty('described');
});
