import { beforeEach, describe, expect, test } from 'vitest';
import { storedClient } from '../../../../test/support/stored-client.ts';
import {
  askedDemands,
  demandMetadata,
  demandsSet,
  getDemands,
  NO_DEMANDS,
  registrationOfDemands,
  unmetProblem,
  type ClientDemand,
} from './client-demands.ts';
import { GrantTypes, INTROSPECTION, type GrantRules } from './grant-types.ts';
import { asDescribed, renewalFor, renewalOf } from './renewal.ts';

describe('the grant types of a server', () => {
  const RULES: readonly GrantRules[] = [
    { name: 'authorization_code', begins: 'person', clients: 'any' },
    { name: 'refresh_token', begins: null, clients: 'any' },
    { name: 'client_credentials', begins: 'client', clients: 'confidential' },
    { name: 'jwt_bearer', begins: 'organization', clients: 'confidential' },
    { name: 'device', begins: 'person', clients: 'any', isForOperators: true },
  ];
  let types: GrantTypes;

  beforeEach(() => {
    types = new GrantTypes(RULES);
  });
  const NAMES = RULES.map(({ name }) => name);

  test('are listed in their order, and an operator can also give introspection', () => {
    expect(types.names).toEqual(NAMES);
    expect(types.rights).toEqual([...NAMES, INTROSPECTION]);
  });

  test('are for clients that register themselves, except those for operators', () => {
    expect(NAMES.filter((name) => types.isForOperators(name))).toEqual(['jwt_bearer', 'device']);
    expect(types.isForOperators('unknown')).toBe(false);
    expect(types.registrable(false)).toEqual([
      'authorization_code',
      'refresh_token',
      'client_credentials',
    ]);
    expect(types.registrable(true)).toEqual(['authorization_code', 'refresh_token']);
  });

  test('need a client that authenticates if they are confidential, like introspection', () => {
    expect(
      [...NAMES, INTROSPECTION, 'unknown'].filter((each) => types.isConfidential(each)),
    ).toEqual(['client_credentials', 'jwt_bearer', INTROSPECTION]);
  });

  test('start access for a person, also from an organization, or for the client itself', () => {
    expect(types.beginning('person')).toEqual(['authorization_code', 'jwt_bearer', 'device']);
    expect(types.beginning('client')).toEqual(['client_credentials']);
    expect(types.beginningAs('person')).toEqual(['authorization_code', 'device']);
    expect(types.beginningAs('organization')).toEqual(['jwt_bearer']);
    expect(types.beginningAs('client')).toEqual(['client_credentials']);
  });

  test('start access if one of them does, and an unknown one does not', () => {
    const holders = [undefined, 'person', 'client'] as const;
    const begins = (...grants: readonly string[]) =>
      holders.map((holder) => types.begin(grants, holder));
    expect(begins()).toEqual([false, false, false]);
    expect(begins('refresh_token', 'unknown')).toEqual([false, false, false]);
    expect(begins('refresh_token', 'authorization_code')).toEqual([true, true, false]);
    expect(begins('client_credentials')).toEqual([true, false, true]);
    expect(begins('jwt_bearer')).toEqual([true, true, false]);
  });

  test('let a person allow access if one of them starts with a person', () => {
    const allowed = NAMES.filter((name) => types.canBeAllowed([name, 'unknown']));
    expect(allowed).toEqual(['authorization_code', 'device']);
    expect(types.canBeAllowed([])).toBe(false);
  });
});

describe('the demands of a client', () => {
  const demand = (changes: Partial<ClientDemand>) => ({ isMet: true, ...changes }) as ClientDemand;
  const PUSHED = demand({ field: 'pushesRequests', metadata: 'push', unmet: 'no pushing' });
  const BOUND = demand({ field: 'dpopBoundAccessTokens', metadata: 'bind', unmet: 'no binding' });
  const BOTH = [PUSHED, BOUND];
  const pushes = { pushesRequests: true, dpopBoundAccessTokens: false };
  const all = { pushesRequests: true, dpopBoundAccessTokens: true };

  test('are those of its registration, or all of them for its profile', () => {
    expect(NO_DEMANDS).toEqual({ pushesRequests: false, dpopBoundAccessTokens: false });
    expect(getDemands({}, false)).toEqual(NO_DEMANDS);
    expect(getDemands({ requirePushedAuthorizationRequests: true }, false)).toEqual(pushes);
    expect(getDemands({ dpopBoundAccessTokens: false }, true)).toEqual(all);
    expect(registrationOfDemands(pushes)).toEqual({
      requirePushedAuthorizationRequests: true,
      dpopBoundAccessTokens: false,
    });
  });

  test('are those that are set', () => {
    expect(demandsSet(BOTH, ({ metadata }) => metadata === 'push')).toEqual(pushes);
    expect(demandsSet([BOUND], () => true)).toEqual({ ...all, pushesRequests: false });
    expect(askedDemands(BOTH, ({ metadata }) => metadata === 'bind')).toEqual({
      requirePushedAuthorizationRequests: false,
      dpopBoundAccessTokens: true,
    });
  });

  test('are a problem if the server cannot meet one of them', () => {
    const unmet = { ...BOUND, isMet: false };
    expect(unmetProblem([], NO_DEMANDS)).toBeNull();
    expect(unmetProblem([PUSHED, unmet], pushes)).toBeNull();
    expect(unmetProblem(BOTH, all)).toBeNull();
    expect(unmetProblem([PUSHED, unmet], all)).toBe('no binding');
    expect(unmetProblem([BOUND], pushes)).toBe(
      'this server does not offer requirePushedAuthorizationRequests',
    );
  });

  test('have the names of the metadata', () => {
    expect(demandMetadata(BOTH, pushes)).toEqual({ push: true });
    expect(demandMetadata(BOTH, all)).toEqual({ push: true, bind: true });
  });
});

describe('what a page says about the end of access', () => {
  const CLIENT = storedClient('notes', 0);
  const once = { ...CLIENT, grants: ['authorization_code'] };

  test('is that it continues, unless the client gets no refresh tokens', () => {
    expect(renewalOf(CLIENT)).toEqual({});
    expect(renewalOf(once)).toEqual({ renews: false });
    expect(renewalFor({ renews: false })).toStrictEqual({ renews: false });
    expect(renewalFor({ renews: undefined })).toStrictEqual({});
  });

  test('stays true if the client gets refresh tokens later', () => {
    expect(asDescribed(CLIENT, {})).toBe(CLIENT);
    expect(asDescribed(CLIENT, { renews: false })).toEqual(once);
  });
});
