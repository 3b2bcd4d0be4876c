import { describe, expect, test } from 'vitest';
import { AuthorizationPageError, OAuthError } from '../errors.ts';
import { createParameters } from '../parameters.ts';
import { profilesWith } from '../../../../test/support/profiles.ts';
import { DroppedScopes } from '../tokens/dropped-scopes.ts';
import { Resources } from '../tokens/resource-indicators.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import type { ClientSource } from '../clients/client-source.ts';
import type { Clients } from '../clients/clients.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest } from '../store/requests.ts';
import { mayRedirectWith } from '../clients/redirect-uris.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import type { AuthorizationAdditions } from './additions.ts';
import { furtherParameters, isCheck, runChecks } from './checks.ts';
import { askedScopes, RequestChecks, sameParameters } from './request.ts';
import { promptValues, sentParameters } from './request-parameters.ts';
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

function checksWith(
  grants: Client['grants'],
  active: () => Promise<object | null>,
  { more = {}, locales = null }: { readonly more?: object; readonly locales?: object | null } = {},
) {
  const server = {
    profiles: profilesWith(),
    scopes: CATALOG,
    resources: new Resources('https://api.example/', CATALOG, []),
    keys: { active },
    audience: 'https://api.example/',
    config: { name: 'A server', key_path: '/keys' },
    host: { tellsWhoWaits: false },
    speaking: { locales },
  } as unknown as Server;
  const clients = {
    find: async (id: string) => (id === CLIENT.id ? { ...CLIENT, grants } : null),
  } as unknown as Clients;
  const clientSource = {
    names: () => false,
    require: () => {},
    find: () => Promise.reject(new Error('Not asked')),
  } as Partial<ClientSource> as ClientSource;
  return new RequestChecks(server, clients, {
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
    ...more,
  });
}

const AT = 'https://server.example/';
const putWith = (sent: URLSearchParams) => ({ parameters: createParameters(sent), direct: false });

function check(sent: URLSearchParams, grants: Client['grants'], active: () => Promise<null>) {
  return checksWith(grants, active).check(putWith(sent), new Request(AT), null);
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

describe('the checks of a request', () => {
  const KEY = 'k'.repeat(43);
  const RIGHT = {
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: 'c'.repeat(43),
    scope: 'notes:read',
    dpop_jkt: KEY,
  };
  const refusal = new OAuthError('invalid_request', 'Push it.');
  const binding = { parameter: 'dpop_jkt' };

  function run(
    more: object = {},
    { direct = false, sent = {} }: { readonly direct?: boolean; readonly sent?: object } = {},
  ) {
    const resources = new Resources('https://api.example/', CATALOG, []);
    const additions = {
      indirectRefusals: [],
      droppedScopes: new DroppedScopes({ scopes: CATALOG, resources, admitsUnverified: false }, []),
      responseModes: new ResponseModes([]),
      binding: null,
      reading: { checks: {}, parameters: ['kept'] },
      ...more,
    } as unknown as AuthorizationAdditions;
    const parameters = createParameters(new URLSearchParams({ ...RIGHT, ...sent }));
    const client = { ...CLIENT, grants: ['authorization_code'] } as const;
    const returns = { redirectUri: 'https://app.example/callback', state: null };
    const server = { resources } as unknown as Server;
    return runChecks({ parameters, client, returns, direct }, { server, additions });
  }
  const FOUND = {
    codeChallenge: 'c'.repeat(43),
    thumbprint: null,
    audience: 'https://api.example/',
    scopes: ['notes:read'],
  };

  test('find the key that the request names only if codes can be bound to keys', async () => {
    expect(await run()).toEqual(FOUND);
    expect(await run({ binding })).toEqual({ ...FOUND, thumbprint: KEY });
    expect(await run({ binding }, { sent: { dpop_jkt: '' } })).toEqual(FOUND);
    for (const dpop_jkt of ['short', `${KEY}k`, `.${KEY}`])
      await expect(run({ binding }, { sent: { dpop_jkt } })).rejects.toMatchObject({
        code: 'invalid_request',
        message: 'The dpop_jkt is not a base64url-encoded SHA-256 hash.',
      });
    expect(await run({}, { sent: { dpop_jkt: 'short' } })).toEqual(FOUND);
  });

  test('refuse a request through the browser that the client had to send directly', async () => {
    const indirectRefusals = [() => refusal];
    await expect(run({ indirectRefusals })).rejects.toBe(refusal);
    expect(await run({ indirectRefusals }, { direct: true })).toEqual(FOUND);
    expect(await run({ indirectRefusals: [() => null] })).toEqual(FOUND);
  });

  test('can be replaced by name, and know the parameters of features', async () => {
    expect([isCheck('scope'), isCheck('nothing')]).toEqual([true, false]);
    const checks = { prompt_none: () => ({ silent: true as const }) };
    const reading = { checks, parameters: ['kept'] };
    expect(await run({ reading }, { sent: { prompt: 'none' } })).toEqual({
      ...FOUND,
      silent: true,
    });
    const further = (by: object | null) =>
      furtherParameters({ binding: by, reading } as unknown as AuthorizationAdditions);
    expect([further(null), further(binding)]).toEqual([['kept'], ['dpop_jkt', 'kept']]);
  });
});

describe('a request that was checked', () => {
  const SENT = {
    client_id: CLIENT.id,
    redirect_uri: 'https://app.example/callback',
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: 'c'.repeat(43),
    scope: 'notes:read',
  };
  const person = { provider: 'staff', id: '7' };
  const grants = ['authorization_code'] as const;
  const about = (sent: Readonly<Record<string, string>>) =>
    new URLSearchParams({ ...SENT, ...sent });
  const checked = (sent: Readonly<Record<string, string>>, more: object, locales: object | null) =>
    checksWith(grants, async () => null, { more, locales }).check(
      putWith(about(sent)),
      new Request(AT),
      person,
    );

  test('has its nonce, its language, and the parameters of features that it contains', async () => {
    const reading = { checks: {}, parameters: ['mine', 'other'] };
    const sent = { nonce: 'n', ui_locales: 'de', mine: 'yes' };
    expect(await checked(sent, { reading }, {})).toMatchObject({
      asked: { nonce: 'n', uiLocales: 'de', further: { mine: 'yes' } },
    });
    const plain = await checked({ ui_locales: 'de' }, { reading }, null);
    if (!('asked' in plain)) throw new Error('The request was refused');
    expect(plain.asked.nonce).toBeNull();
    expect(['uiLocales' in plain.asked, 'further' in plain.asked]).toEqual([false, false]);
  });

  test('is from a client document only if the server reads documents', async () => {
    expect(await checked({}, { clientSource: null }, null)).toHaveProperty('asked');
    const calls: unknown[] = [];
    const clientSource = {
      names: (id: string) => id === CLIENT.id,
      require: (id: string) => calls.push(id),
      find: async (...asked: unknown[]) => {
        calls.push(asked);
        return { ...CLIENT, grants };
      },
    };
    expect(
      await checked({ scope: 'notes:read openid' }, { clientSource }, null),
    ).not.toHaveProperty('signInFirst');
    expect(calls).toEqual([CLIENT.id, [CLIENT.id, person, ['notes:read', 'openid']]]);
    const checks = checksWith(grants, async () => null, { more: { clientSource } });
    expect(await checks.check(putWith(about({})), new Request(AT), null)).toEqual({
      signInFirst: true,
    });
    expect(calls.at(-1)).toBe(CLIENT.id);
    const twice = createParameters(new URLSearchParams('scope=notes:read&scope=openid'));
    expect(askedScopes(twice)).toEqual([]);
  });

  test('without a redirect URI has the scopes and the resource', async () => {
    const checks = checksWith(grants, async () => null);
    const client = { ...CLIENT, scopes: ['notes:read'] };
    expect(await checks.access(createParameters(about({})), client)).toEqual({
      audience: 'https://api.example/',
      scopes: ['notes:read'],
    });
  });

  test('can be checked again with the same parameters', () => {
    const asked = {
      clientId: 'app',
      redirectUri: 'https://app.example/callback',
      scopes: ['notes:read', 'openid'],
      state: null,
      nonce: 'n',
      codeChallenge: 'c',
      audience: null,
      thumbprint: 'k',
      further: { mine: 'yes' },
    } as unknown as AuthorizationRequest;
    const same = [
      ['client_id', 'app'],
      ['redirect_uri', 'https://app.example/callback'],
      ['response_type', 'code'],
      ['scope', 'notes:read openid'],
      ['nonce', 'n'],
      ['code_challenge', 'c'],
      ['code_challenge_method', 'S256'],
    ];
    expect(sameParameters(asked, null)).toEqual([...same, ['mine', 'yes']]);
    const bound = [...same, ['dpop_jkt', 'k'], ['mine', 'yes']];
    expect(sameParameters(asked, 'dpop_jkt')).toEqual(bound);
  });

  test('waits with its resource, without empty values, and with at most two repeated ones', () => {
    const sent = new URLSearchParams('resource=r&state=&nonce=1&nonce=2&nonce=3&scope=&scope=');
    const hints = { further: ['mine'], hints: [] };
    expect(sentParameters(createParameters(sent), hints)).toEqual([
      ['resource', 'r'],
      ['scope', ''],
      ['scope', ''],
      ['nonce', '1'],
      ['nonce', '2'],
    ]);
    expect([...promptValues(undefined)]).toEqual([]);
    expect([...promptValues('login  consent')]).toEqual(['login', 'consent']);
  });

  test.each<[string, Partial<Client>, string]>([
    [
      'http://127.0.0.1:9/cb',
      { redirectUris: ['http://127.0.0.1:8/cb', 'https://app.example/'] },
      'the redirect_uri is "http://127.0.0.1:9/cb", but the client the-client is registered with ' +
        '"http://127.0.0.1:8/cb", "https://app.example/"; only a native application may use ' +
        'another port',
    ],
    [
      'https://other.example/cb',
      { redirectUris: [] },
      'the redirect_uri is "https://other.example/cb", but the client the-client is registered ' +
        'with none',
    ],
    [
      'https://app.example/?b',
      { redirectUris: ['https://app.example/?a'] },
      'the redirect_uri is "https://app.example/?…", but the client the-client is registered with ' +
        '"https://app.example/?…", and they differ in parts that the log does not show',
    ],
  ])('is refused at %s, and the log says why', async (redirect_uri, registered, detail) => {
    const mayRedirect = mayRedirectWith([
      ({ applicationType }, uri) => applicationType === 'native' && uri.startsWith('http:'),
    ]);
    const checks = checksWith(grants, async () => null, { more: { mayRedirect } });
    const client = { ...CLIENT, applicationType: 'web', ...registered } as Client;
    const refused = checks.checkDirect(createParameters(about({ redirect_uri })), client);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', detail });
  });
});
