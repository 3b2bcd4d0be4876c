import { describe, expect, test } from 'vitest';
import { NO_AUDIT_SINK } from '../auditing/server-audit.ts';
import { NO_INITIAL_ACCESS_TOKENS } from '../clients/initial-access-tokens.ts';
import type { Feature, Parts } from '../feature.ts';
import { demands } from '../store/client-demands.fixture.ts';
import { NO_DEMANDS, type ClientDemand } from '../store/client-demands.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import {
  collectAlgorithms,
  collectCatalogs,
  collectTokenSchemes,
  demandsOfFeatures,
  startFeatures,
} from './start-features.ts';

const CONFIG = { code_ttl: 60 } as Server['config'];
const PARTS = { accessPath: 'the parts' } as Parts;

/** Starts features that add this to a server. */
function startWith(contributions: readonly object[], changes: object = {}) {
  const server = {
    config: CONFIG,
    demands: demands(),
    outbox: { isOn: false },
    furtherMetadata: { fields: [] },
    ...changes,
  } as unknown as Server;
  const features = contributions.map((contribution, index): Feature => ({
    name: `f${index}`,
    sendsMessages: () => true,
    start: () => contribution,
  }));
  return startFeatures([{ name: 'idle' }, ...features], server);
}

/**
 * Issues a token for this client, on a server with these demands and no feature that meets them.
 */
function issue(offered: readonly ClientDemand[], client: Partial<Client>): void {
  const { issuanceChecks } = startWith([], { demands: offered });
  for (const check of issuanceChecks) void check({ ...NO_DEMANDS, ...client } as Client, [], null);
}

describe('a client with a requirement that no feature implements', () => {
  test.each(['pushesRequests', 'dpopBoundAccessTokens'] as const)('gets no token: %s', (field) => {
    const others = demands().filter((demand) => demand.field !== field);
    expect(() => issue(others, { [field]: true })).toThrowError(
      expect.objectContaining({ code: 'unauthorized_client' }) as Error,
    );
    expect(() => issue(others, {})).not.toThrow();
    expect(() => issue(demands(), { [field]: true })).not.toThrow();
  });
});

describe('what features add to the server', () => {
  test.each([
    'accessPath',
    'assertionGrant',
    'binding',
    'clientAssertions',
    'clientSource',
    'directRequests',
    'earlierScopes',
    'givenAccess',
    'interaction',
    'logos',
    'priorConsent',
    'resource',
    'scopeChoices',
    'secondUses',
    'secretHasher',
    'sid',
  ] as const)('can be the only %s', (name) => {
    const added = { of: name };
    expect(startWith([{}, { [name]: added }])[name]).toBe(added);
    expect(startWith([{}])[name]).toBeNull();
    expect(() => startWith([{ [name]: added }, { [name]: added }])).toThrow(
      `oauth_server:f0: is also provided by the feature f1 (${name}); remove one`,
    );
  });

  test('can be the only kinds of workload tokens, and the only receiver of audit events', () => {
    const [workloads, auditSink] = [['one'], { of: 'one' }];
    expect(startWith([{ workloads, auditSink }])).toMatchObject({ workloads, auditSink });
    expect(startWith([{ auditSink }]).auditSink).toBe(auditSink);
    expect(startWith([{}])).toMatchObject({ workloads: [], auditSink: NO_AUDIT_SINK });
    expect(startWith([{}]).auditSink).toBe(NO_AUDIT_SINK);
  });

  test.each([
    ['consentAnswered', 'consentAnswered'],
    ['indirectRefusal', 'indirectRefusals'],
    ['keepsDetails', 'keptDetails'],
    ['sessionEnded', 'sessionEnds'],
    ['forgetsPerson', 'forgetting'],
    ['endsRequests', 'endingRequests'],
    ['revokesAlso', 'revokedAlso'],
    ['tokenMembers', 'tokenMembers'],
    ['expiring', 'expiring'],
  ] as const)('is collected in order: %s', (name, all) => {
    expect(startWith([{ [name]: 'one' }, {}, { [name]: 'two' }])[all]).toEqual(['one', 'two']);
    expect(startWith([{}])[all]).toEqual([]);
  });

  test('checks tokens after the check of demands', () => {
    const check = () => {};
    const { issuanceChecks } = startWith([{ issuanceCheck: check }]);
    expect(issuanceChecks).toEqual([expect.any(Function), check]);
  });

  test('can accept redirect URIs, and drop scopes, also of unverified clients', () => {
    const scopes = new Map([['notes:read', {}]]);
    const resources = { scopesOf: () => scopes };
    const client = {
      redirectUris: ['https://a.example'],
      scopes: [] as string[],
      registeredBy: 'itself',
    } as unknown as Client;
    const adds = {
      mayRedirect: (_: Client, uri: string) => uri === 'https://b.example',
      dropsScope: ({ name }: { readonly name: string }) => name === 'dropped',
    };
    for (const admitsUnverified of [true, false]) {
      const { mayRedirect, droppedScopes } = startWith([{}, adds], {
        scopes,
        resources,
        admitsUnverified,
      });
      const accepted = ['a', 'b', 'c'].map((each) =>
        mayRedirect(client, `https://${each}.example`),
      );
      expect(accepted).toEqual([true, true, false]);
      const drops = droppedScopes.of(client, null);
      expect(['dropped', 'kept', 'notes:read'].map(drops)).toEqual([true, false, admitsUnverified]);
    }
  });

  test('can be grants, grouped by who gives the access', () => {
    const grant = () => ({});
    const grants = (['person', 'organization', 'client', null] as const).map((begins) => ({
      name: `urn:${begins}`,
      begins,
      clients: 'confidential',
      grant,
    }));
    const own = ['urn:person', 'urn:organization', 'urn:client', 'urn:null'];
    const core = ['authorization_code', 'refresh_token', 'client_credentials'];
    const started = startWith([{ grants: grants.slice(0, 2) }, {}, { grants: grants.slice(2) }]);
    expect(started.grants.map(({ name }) => name)).toEqual([...core, ...own]);
    expect(started.grantTypes.names).toEqual([...core, ...own]);
    expect(started.furtherGrants).toEqual({
      person: ['urn:person'],
      organization: ['urn:organization'],
      client: ['urn:client'],
    });
    const none = { person: [], organization: [], client: [] };
    expect(startWith([{}]).furtherGrants).toEqual(none);
  });

  test('can be metadata, checks of requests, response modes, details and deliveries', () => {
    const metadataValues = {
      prompt_values_supported: ['p'],
      claims_supported: ['c'],
      grant_types_supported: ['g'],
    };
    const scope = () => {};
    const deliver = async () => {};
    const started = startWith([
      { metadata: { one: 1 }, metadataValues, deliveries: { kind: deliver } },
      { metadata: { two: 2 }, metadataValues, responseModes: [{ name: 'own_mode' }] },
      {
        metadataValues: {},
        requestChecks: { scope },
        requestParameters: ['own'],
        describe: (_: unknown, place: string) => ({ place }),
      },
    ]);
    expect(started).toMatchObject({
      metadata: { one: 1, two: 2 },
      metadataValues: {
        prompt_values_supported: ['p', 'p'],
        claims_supported: ['c', 'c'],
        grant_types_supported: ['g', 'g'],
      },
      reading: { checks: { scope }, parameters: ['own'] },
      deliveries: { kind: deliver },
    });
    expect(started.responseModes.names).toEqual(['query', 'own_mode']);
    expect(started.describe({}, 'id_token')).toEqual({ place: 'id_token' });
    expect(startWith([{ metadataValues: {} }]).metadataValues).toEqual({
      prompt_values_supported: [],
      claims_supported: [],
      grant_types_supported: [],
    });
  });

  test('can use values once, and makes the server remove rows that are left', () => {
    expect(startWith([{}]).usesOnce).toBe(false);
    expect(startWith([{ usesOnce: false }, {}]).usesOnce).toBe(false);
    expect(startWith([{}, { usesOnce: true }]).usesOnce).toBe(true);
    const left = startWith([{ expiring: { kind: 'own' } }], {
      outbox: { isOn: true },
      furtherMetadata: { fields: ['one'] },
    });
    const kinds = left.expiring.map(({ kind }) => kind);
    expect(kinds).toEqual(['own', 'clientMetadata', 'outboxMessages']);
  });

  test('can be examinations, which get the parts of the server', () => {
    const examination = ({ accessPath }: Parts) => ({ part: accessPath });
    const partsOf = (isOn: boolean) =>
      startWith([{ examination }, {}], { outbox: { isOn } })
        .examinations(PARTS)
        .map(({ part }) => part);
    expect(partsOf(false)).toEqual(['the parts']);
    expect(partsOf(true)).toEqual(['the parts', 'outbox']);
  });

  test('can be members of the server', () => {
    expect(startWith([{}]).members(PARTS)).toEqual({
      initialAccessTokens: NO_INITIAL_ACCESS_TOKENS,
    });
    const members = ({ accessPath }: Parts) => ({ own: accessPath, initialAccessTokens: 'own' });
    expect(startWith([{ members }, {}]).members(PARTS)).toEqual({
      own: 'the parts',
      initialAccessTokens: 'own',
    });
  });

  test('can be endpoints, if they have a handler', () => {
    const server = {
      config: CONFIG,
      demands: [],
      outbox: { isOn: false },
      furtherMetadata: { fields: [] },
    } as unknown as Server;
    const endpoint = (name: string) => ({ name, path: `/${name}`, methods: ['GET'] }) as const;
    const handler = async () => ({ status: 200, headers: {}, body: null });
    const asked: unknown[] = [];
    const plain = { name: 'plain' } as never;
    const started = startFeatures(
      [
        { name: 'none', start: () => ({ plainEndpoints: [plain], handlers: () => ({}) }) },
        {
          name: 'own',
          endpoints: [endpoint('own_on'), endpoint('own_off')],
          start: (...given) => {
            asked.push(...given);
            return {
              handlers: (parts) => {
                asked.push(parts);
                return { own_on: handler };
              },
            };
          },
        },
        { name: 'off', endpoints: [endpoint('off_one')], start: () => ({}) },
      ],
      server,
    );
    expect(started.plainEndpoints).toEqual([plain]);
    expect(started.endpoints(PARTS)).toEqual([{ description: endpoint('own_on'), handler }]);
    expect(asked).toEqual([server, CONFIG, PARTS]);
    const taken = { name: 'own', endpoints: [endpoint('other')] };
    expect(() => startFeatures([taken], server)).toThrow('its name must begin with own_');
  });
});

test('demands, token schemes, algorithms and languages come from all features, in order', () => {
  const [pushed, bound] = demands();
  const features = [
    {
      name: 'one',
      clientDemands: [{ ...pushed, meets: ({ code_ttl: ttl }: typeof CONFIG) => ttl === 60 }],
      tokenSchemes: ({ code_ttl: ttl }: typeof CONFIG) => [`One${ttl}`],
      signingAlgorithms: [{ name: 'ES256' }],
      messages: { de: 'one', fr: 'one' },
    },
    { name: 'none' },
    {
      name: 'two',
      clientDemands: [{ ...bound, meets: () => false }],
      tokenSchemes: () => ['Two'],
      messages: { de: 'two' },
    },
  ] as unknown as readonly Feature[];
  expect(demandsOfFeatures(features, CONFIG)).toMatchObject([
    { ...pushed, isMet: true },
    { ...bound, isMet: false },
  ]);
  expect(collectTokenSchemes(features, CONFIG)).toEqual(['One60', 'Two']);
  expect(collectAlgorithms(features).names).toEqual(['RS256', 'ES256']);
  expect(collectCatalogs(features)).toEqual({ de: 'two', fr: 'one' });
});
