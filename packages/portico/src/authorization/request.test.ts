import { expect, test } from 'vitest';
import { AuthorizationPageError } from '../errors.ts';
import { createParameters } from '../parameters.ts';
import { profilesWith } from '../../../../test/support/profiles.ts';
import { DroppedScopes } from '../tokens/dropped-scopes.ts';
import { Resources } from '../tokens/resource-indicators.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import type { ClientSource } from '../clients/client-source.ts';
import type { Clients } from '../clients/clients.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import { mayRedirectWith } from '../clients/redirect-uris.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { RequestChecks } from './request.ts';
import { ResponseModes } from './response-modes.ts';

const CLIENT = storedClient('the-client', 0, {
  redirectUris: ['https://app.example/callback'],
  grants: ['refresh_token'],
  public: true,
  secretHash: null,
});

/**
 * Each step's refusal, the parameters that cause it, and the parameters that pass it. Undefined
 * removes a parameter.
 */
const STEPS: readonly (readonly [
  told: string,
  wrong: Readonly<Record<string, string>>,
  right: Readonly<Record<string, string | undefined>>,
])[] = [
  ['Unknown application', { client_id: 'unknown' }, { client_id: CLIENT.id }],
  [
    'Unregistered return address',
    { redirect_uri: 'https://other.example/' },
    { redirect_uri: 'https://app.example/callback' },
  ],
  ['The parameter nonce is repeated.', { nonce: 'twice' }, { nonce: 'once' }],
  ['request_not_supported', { request: 'e30' }, { request: undefined }],
  ['request_uri_not_supported', { request_uri: 'urn:example' }, { request_uri: undefined }],
  ['unsupported_response_type', { response_type: 'token' }, { response_type: 'code' }],
  ['The only response_mode is query.', { response_mode: 'fragment' }, { response_mode: 'query' }],
  ['prompt=login cannot be honoured', { prompt: 'login' }, { prompt: 'consent' }],
  ['max_age cannot be honoured', { max_age: '1' }, { max_age: undefined }],
  ['unauthorized_client', { grant: 'refresh_token' }, { grant: 'authorization_code' }],
  [
    'PKCE is required',
    { code_challenge_method: 'plain' },
    { code_challenge_method: 'S256', code_challenge: 'c'.repeat(43) },
  ],
  ['invalid_target', { resource: 'https://other.example/' }, { resource: 'https://api.example/' }],
  ['The scope is empty, unknown', { scope: 'openid notes:delete' }, { scope: 'openid notes:read' }],
  ['the server has no signing key', {}, {}],
];

const CATALOG = createScopeCatalog({ 'notes:read': 'Read notes' });

function check(sent: URLSearchParams, grants: Client['grants'], active: () => Promise<null>) {
  const server = {
    profiles: profilesWith(),
    scopes: CATALOG,
    resources: new Resources('https://api.example/', CATALOG, []),
    keys: { active },
    audience: 'https://api.example/',
    config: { name: 'A server', key_path: '/keys' },
    host: { tellsWhoWaits: false },
    speaking: { locales: null },
  } as unknown as Server;
  const clients = {
    find: async (id: string) => (id === CLIENT.id ? { ...CLIENT, grants } : null),
  } as unknown as Clients;
  const clientSource = {
    names: () => false,
    require: () => {},
    find: () => Promise.reject(new Error('Not asked')),
  } as Partial<ClientSource> as ClientSource;
  const checks = new RequestChecks(server, clients, {
    clientSource,
    directRequests: null,
    indirectRefusals: [],
    droppedScopes: new DroppedScopes(server, []),
    mayRedirect: mayRedirectWith([]),
    responseModes: new ResponseModes([]),
    binding: null,
    reading: { checks: {}, parameters: [] },
    interaction: null,
    logos: null,
    accessPath: null,
    scopeChoices: null,
    keptDetails: [],
    earlierScopes: null,
    priorConsent: null,
    consentAnswered: [],
  });
  const put = { parameters: createParameters(sent), direct: false };
  return checks.check(put, new Request('https://server.example/'), null);
}

/**
 * Returns the error for a request that is valid before this step, and invalid from this step on.
 */
async function toldAt(position: number): Promise<string> {
  const given = new Map<string, string | undefined>();
  for (const [index, [, wrong, right]] of STEPS.entries()) {
    for (const [name, value] of Object.entries(index < position ? right : wrong))
      given.set(name, value);
  }
  const sent = new URLSearchParams();
  for (const [name, value] of given) if (value !== undefined) sent.append(name, value);
  if (given.get('nonce') === 'twice') sent.append('nonce', 'twice');
  const grants: Client['grants'] =
    given.get('grant') === 'authorization_code' ? ['authorization_code'] : ['refresh_token'];
  try {
    const checked = await check(sent, grants, async () => null);
    const error =
      'response' in checked && 'error' in checked.response.result && checked.response.result.error;
    return error ? `${error.code}: ${error.message}` : 'nothing';
  } catch (error) {
    return error instanceof AuthorizationPageError ? error.title : String(error);
  }
}

test.each(STEPS.map(([told], position) => ({ position, told })))(
  'the error of the first failed check of a request is reported: $told',
  async ({ position, told }) => {
    expect(await toldAt(position)).toContain(told);
  },
);

test('a server error in the checks of a request is not reported to the client', async () => {
  const right = STEPS.flatMap(([, , parameters]) => Object.entries(parameters));
  const sent = new URLSearchParams();
  for (const [name, value] of right) if (value !== undefined) sent.append(name, value);
  const failing = () => Promise.reject(new Error('The disk is gone'));
  await expect(check(sent, ['authorization_code'], failing)).rejects.toThrow('The disk is gone');
});
