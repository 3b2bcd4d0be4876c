import { describe, expect, test } from 'vitest';
import { OAuthError } from '../errors.ts';
import { createParameters } from '../parameters.ts';
import type { ProtectedResources } from '../resource/protected-resource.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest, ConsentRequest } from '../store/requests.ts';
import { DroppedScopes, type DropsScope } from '../tokens/dropped-scopes.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import { Resources } from '../tokens/resource-indicators.ts';
import { createScopeCatalog } from '../tokens/scopes.ts';
import { storedClient } from '../../../../test/support/stored-client.ts';
import { formToken } from '../host/form-token.ts';
import type { Visitor } from '../host/accounts.ts';
import type { AuthorizationAdditions } from './additions.ts';
import { askConsent, isConsentToken } from './consent-question.ts';
import { grantableScopes } from './checks.ts';
import { getIndirectRefusal } from './direct-requests.ts';
import { GrantableScopes, isPartHeld, registeredScopes } from './grantable-scopes.ts';
import { refuseBearer } from './refuse-bearer.ts';
import {
  addedScopes,
  choicesFor,
  chosenScopes,
  isPartAllowed,
  usableScopes,
} from './scope-choices.ts';

const catalog = createScopeCatalog({ read: 'Read', write: 'Write', bound: 'Pay' });
const AUDIENCE = 'https://api.example/';
const OTHER = 'https://other.example/';
const several = new Resources(AUDIENCE, catalog, [
  { resource: AUDIENCE, scopes: ['read'], label: 'The API', metadataUrl: null, challenge: false },
]);
const person = { provider: 'staff', id: '7' };
const clientWith = (scopes: readonly string[], more: Partial<Client> = {}) =>
  storedClient('app', 0, { scopes, ...more });

/** Codes with the scope `bound` need a key. */
const bindingWith = (required: boolean) =>
  ({
    scopes: new Set(['bound']),
    offer: { scheme: 'DPoP', required },
    parameter: 'dpop_jkt',
  }) as unknown as KeyBinding;
const binding = bindingWith(false);

describe('the scopes that a client requests', () => {
  interface About {
    readonly resources?: Resources;
    readonly audience?: string;
    readonly hasKey?: boolean;
    readonly drops?: readonly DropsScope[];
  }
  async function granted(scope: string | null, scopes: readonly string[], about: About = {}) {
    const { resources = new Resources(AUDIENCE, catalog, []), audience = AUDIENCE } = about;
    const { hasKey = false, drops = [] } = about;
    const server = {
      resources,
      scopes: catalog,
      admitsUnverified: false,
      keys: { active: async () => (hasKey ? {} : null) },
      config: { key_path: '/keys' },
    } as unknown as Server;
    const additions = { droppedScopes: new DroppedScopes(server, drops) };
    const parameters = createParameters(new URLSearchParams(scope === null ? {} : { scope }));
    const context = { server, additions: additions as unknown as AuthorizationAdditions };
    try {
      return await grantableScopes({ parameters, client: clientWith(scopes) }, context, audience);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      return [error.code, error.message, error.detail];
    }
  }
  const all: DropsScope = () => true;
  const UNKNOWN = 'The scope is empty, unknown, or not one that this client may ask for';

  test('are all of the client without `scope`, except openid', async () => {
    expect(await granted(null, ['openid', 'read', 'profile'])).toEqual(['read', 'profile']);
    expect(await granted('openid read', ['openid', 'read'], { hasKey: true })).toEqual([
      'openid',
      'read',
    ]);
  });

  test('contain openid only if a key can sign; otherwise it is dropped or refused', async () => {
    const refused = [
      'invalid_scope',
      'The scope openid cannot be granted: the server has no signing key.',
      'there is no signing key in /keys; to create one, run oauth:server:setup',
    ];
    const scopes = ['openid', 'read'];
    expect(await granted('openid read', scopes)).toEqual(refused);
    expect(await granted('openid read', scopes, { drops: [all] })).toEqual(['read']);
    expect(await granted('openid', scopes, { drops: [all] })).toEqual(refused);
    const others: DropsScope = ({ name }) => name !== 'openid';
    expect(await granted('openid read', scopes, { drops: [others] })).toEqual(refused);
    expect(await granted('read', scopes)).toEqual(['read']);
  });

  test('are refused with the resource in the log if resources have scopes', async () => {
    expect(await granted('write', ['read', 'write'], { resources: several })).toEqual([
      'invalid_scope',
      `${UNKNOWN} at this resource.`,
      'these scopes are unknown, not registered for this client, or not scopes of the requested ' +
        `resource, "${AUDIENCE}": "write"`,
    ]);
    expect(await granted('write', ['read'])).toEqual([
      'invalid_scope',
      `${UNKNOWN}.`,
      'these scopes are unknown, or not registered for this client: "write"',
    ]);
    const elsewhere = { resources: several, audience: OTHER };
    expect((await granted('read', ['read'], elsewhere))[0]).toBe('invalid_scope');
  });
});

const requestFor = (scopes: readonly string[], thumbprint: string | null = null) =>
  ({ scopes, audience: AUDIENCE, thumbprint }) as AuthorizationRequest;
const saved = (scopes: readonly string[], more: Partial<ConsentRequest> = {}) =>
  ({ ...requestFor(scopes), ...more }) as ConsentRequest;

describe('the scopes that a person is asked for', () => {
  interface About {
    readonly binding?: KeyBinding | null;
    readonly stepUp?: boolean;
    readonly add?: readonly string[];
    readonly permits?: (name: string) => boolean;
  }
  function grantableWith(before: readonly string[] | null, about: About) {
    const { stepUp = true, add, permits = () => true } = about;
    const scopeChoices = add === undefined ? null : { isOptional: () => false, added: add };
    const server = {
      host: { holdsPermission: async (_: unknown, name: string) => permits(name) },
      resources: new Resources(AUDIENCE, catalog, []),
    } as unknown as Server;
    const additions = {
      scopeChoices,
      binding: about.binding ?? null,
      earlierScopes: before === null ? null : async () => before,
    } as unknown as AuthorizationAdditions;
    const resources = { of: () => ({ needs: () => ({ stepUp }) }) };
    return new GrantableScopes(server, additions, resources as unknown as ProtectedResources);
  }
  async function asked(
    request: AuthorizationRequest,
    before: readonly string[] | null,
    about: About & { readonly client?: Client } = {},
  ) {
    const { client = clientWith(['read', 'write', 'bound']) } = about;
    return grantableWith(before, about).ofNew(request, client, person);
  }

  test('include those from before, except openid, only where clients step up', async () => {
    const before = ['openid', 'write', 'read'];
    expect(await asked(requestFor(['read']), before)).toEqual({
      scopes: ['read', 'write'],
      before,
      choices: undefined,
    });
    for (const [earlier, about] of [
      [before, { stepUp: false }],
      [null, {}],
    ] as const)
      expect(await asked(requestFor(['read']), earlier, about)).toMatchObject({
        scopes: ['read'],
        before: [],
      });
  });

  test('include a bound one from before only if the client names or always proves a key', async () => {
    const scopesWith = async (
      thumbprint: string | null,
      about: About & { readonly client?: Client },
    ) => (await asked(requestFor(['read'], thumbprint), ['bound'], about)).scopes;
    const both = ['read', 'bound'];
    expect(await scopesWith(null, { binding })).toEqual(['read']);
    expect(await scopesWith('key', { binding })).toEqual(both);
    expect(await scopesWith(null, { binding: bindingWith(true) })).toEqual(both);
    expect(await scopesWith(null, { binding: null })).toEqual(both);
    const client = clientWith(['read'], { dpopBoundAccessTokens: true });
    expect(await scopesWith(null, { binding, client })).toEqual(both);
  });

  test('include those that the person can add, and leave out those that they lack', async () => {
    const add = ['write', 'bound', 'profile'];
    const permits = (name: string) => name !== 'bound';
    expect(await asked(requestFor(['read']), null, { add, permits })).toEqual({
      scopes: ['read', 'write'],
      before: [],
      choices: { optional: [], added: ['write', 'bound'] },
    });
  });

  test('are never more than the page showed, and fewer if the client or the person lost some', async () => {
    const ofSaved = (more: Partial<ConsentRequest>, before: readonly string[], scopes: string[]) =>
      grantableWith(before, {}).ofSaved(
        saved(['read', 'write'], {
          asked: { person, scopes: ['read', 'write', 'bound'] },
          ...more,
        }),
        clientWith(scopes),
        person,
      );
    const still = async (...args: Parameters<typeof ofSaved>) => (await ofSaved(...args)).scopes;
    expect(await still({}, [], ['read', 'write', 'bound'])).toEqual(['read', 'write']);
    expect(await still({}, [], ['read'])).toEqual(['read']);
    expect(await still({ shownName: 'App' }, [], ['read'])).toEqual(['read', 'write']);
    expect(await still({}, ['bound', 'profile'], ['read'])).toEqual(['read', 'bound']);
    const choices = { optional: [], added: ['bound', 'profile'] };
    expect(await still({ choices }, [], ['read', 'bound'])).toEqual(['read', 'bound']);
    expect(await still({ choices }, [], ['read'])).toEqual(['read']);
  });

  test('of a document stay, but those of a registered client must still be registered', () => {
    const client = clientWith(['read']);
    expect(registeredScopes(saved(['read', 'write']), client)).toEqual(['read']);
    const document = saved(['read', 'write'], { shownName: 'App' });
    expect(registeredScopes(document, client)).toEqual(['read', 'write']);
  });

  test('must include a requested one that the person may grant', () => {
    expect(isPartHeld(requestFor(['read', 'write']), ['write', 'bound'])).toBe(true);
    expect(isPartHeld(requestFor(['read']), ['write'])).toBe(false);
  });
});

describe('the choices on the consent page', () => {
  const isOptional = (name: string) => name === 'write';
  const choicesOf = (
    add: readonly string[],
    wanted: readonly string[],
    key: KeyBinding | null = binding,
  ) =>
    choicesFor(
      { isOptional, added: add },
      requestFor(['read']),
      clientWith(['read', 'write', 'bound']),
      wanted,
      key,
    );

  test('are wanted optional scopes, and further scopes that the client can use', () => {
    expect(choicesOf(['profile', 'read', 'bound'], ['read', 'write'])).toEqual({
      optional: ['write'],
      added: [],
    });
    expect(choicesOf(['write'], ['read'])).toEqual({ optional: [], added: ['write'] });
    expect(choicesOf(['profile'], ['read'])).toBeUndefined();
    expect(choicesOf(['bound'], ['read', 'write'], null)).toEqual({
      optional: ['write'],
      added: ['bound'],
    });
    const none = choicesFor(null, requestFor([]), clientWith(['write']), ['write'], null);
    expect(none).toBeUndefined();
  });

  test('contain a scope that needs a key only if the request names one', () => {
    const names = ['read', 'bound'];
    expect(usableScopes(names, requestFor([]), binding)).toEqual(['read']);
    expect(usableScopes(names, requestFor([], 'key'), binding)).toEqual(names);
    expect(usableScopes(names, requestFor([]), null)).toEqual(names);
  });

  const choices = { optional: ['write'], added: ['bound'] };

  test('decide what is allowed: scopes without a box, and checked boxes', () => {
    const all = ['read', 'write', 'bound'];
    const chosen = (checked: readonly string[], more: Partial<ConsentRequest> = { choices }) =>
      chosenScopes(saved([], more), all, (name) => checked.includes(name));
    expect(chosen([])).toEqual(['read']);
    expect(chosen(['write'])).toEqual(['read', 'write']);
    expect(chosen(['bound', 'other'])).toEqual(['read', 'bound']);
    expect(chosen([], {})).toEqual(all);
    expect(addedScopes(saved([], { choices }), clientWith(['bound', 'read']))).toEqual(['bound']);
    expect(addedScopes(saved([], { choices }), clientWith(['read']))).toEqual([]);
    expect(addedScopes(saved([]), clientWith(['bound']))).toEqual([]);
  });

  test('must leave a requested or added scope', () => {
    const isPart = (allowed: readonly string[], more: Partial<ConsentRequest> = { choices }) =>
      isPartAllowed(saved(['read'], more), allowed);
    expect([isPart(['read']), isPart(['bound']), isPart(['write'])]).toEqual([true, true, false]);
    expect([isPart([]), isPart(['bound'], {})]).toEqual([false, false]);
  });
});

test('the first refusal of a request that the browser sent counts', () => {
  const refusal = new OAuthError('invalid_request', 'Push it.');
  const asked = clientWith([]);
  expect(getIndirectRefusal(asked, [() => null, () => refusal, () => null])).toBe(refusal);
  expect(getIndirectRefusal(asked, [() => null])).toBeNull();
});

test('a page refuses a request with an access token, also under the scheme of bound tokens', () => {
  const refuse = (authorization: string | null, by: KeyBinding | null) => () => {
    const headers: HeadersInit = authorization === null ? {} : { authorization };
    return refuseBearer(new Request('https://as.example/', { headers }), by, 'The page');
  };
  for (const refused of [refuse('Bearer x', null), refuse('DPoP x', binding)])
    expect(refused).toThrow(new OAuthError('invalid_request', 'The page takes no access token.'));
  for (const taken of [refuse('DPoP x', null), refuse('Basic x', binding), refuse(null, binding)])
    expect(taken).not.toThrow();
});

describe('the question on the consent page', () => {
  const visitor = { user: { reference: person }, browserSecret: 'the secret' } as Visitor;
  const ask = (resources: Resources, id: string) =>
    askConsent(
      { resources } as unknown as Server,
      { ...requestFor(['read', 'write']), redirectUri: 'https://client.example/cb' },
      id,
      clientWith([]),
      visitor,
      { scopes: ['read', 'write'], before: ['write', 'bound'] },
    );

  test('has the label of the resource, and the scopes that were allowed before', () => {
    expect(ask(several, 'id')).toMatchObject({
      requestId: 'id',
      client: clientWith([]),
      user: visitor.user,
      scopes: ['read', 'write'],
      grantedBefore: ['write'],
      resource: 'The API',
      redirectUri: 'https://client.example/cb',
    });
    expect(ask(new Resources(AUDIENCE, catalog, []), 'id').resource).toBeNull();
  });

  test('has a token that only its answer can send, in this browser, in every release', () => {
    const { csrfToken } = ask(several, 'id');
    expect(csrfToken).toBe(formToken(visitor, 'oauth/consent', 'id'));
    expect(isConsentToken(csrfToken, 'id', visitor)).toBe(true);
    expect(isConsentToken(csrfToken, 'other', visitor)).toBe(false);
    const elsewhere = { ...visitor, browserSecret: 'another secret' };
    expect(isConsentToken(csrfToken, 'id', elsewhere)).toBe(false);
  });
});
