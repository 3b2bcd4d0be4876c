import { NO_AUDIT_SINK, type AuditSink } from '../auditing/server-audit.ts';
import type { AuthorizationAdditions } from '../authorization/additions.ts';
import { ResponseModes } from '../authorization/response-modes.ts';
import type { FeatureMembers } from '../authorization-server.ts';
import type { Endpoint, OwnEndpoint } from '../endpoints/endpoint.ts';
import type { Beginning } from '../store/grant.ts';
import { GrantTypes } from '../store/grant-types.ts';
import type { ClientDemand } from '../store/client-demands.ts';
import type { ClientAssertions } from '../clients/client-assertions.ts';
import { NO_INITIAL_ACCESS_TOKENS } from '../clients/initial-access-tokens.ts';
import { mayRedirectWith } from '../clients/redirect-uris.ts';
import type { OAuthServerConfig } from '../config.ts';
import type { Examination } from '../examination.ts';
import type { Contribution, Feature, Parts } from '../feature.ts';
import {
  collectDeliveries,
  collectGrantTypes,
  collectMetadata,
  collectReading,
  requireOwnEndpoints,
  collectResponseModes,
  findOnly,
  type Started,
} from './feature-conflicts.ts';
import type { PasswordHasher } from '../host/password-hasher.ts';
import { NO_DEMANDS, type DemandField } from '../store/client-demands.ts';
import { OAuthError } from '../errors.ts';
import { SigningAlgorithms } from '../keys/algorithms.ts';
import type { GrantType } from '../grants/grant-types.ts';
import type { AssertionGrant } from '../grants/assertion-grant.ts';
import type { IssuanceCheck } from '../grants/issuing.ts';
import type { PublishedResource } from '../resource/protected-resource.ts';
import type { GivenAccess } from '../store/given-access.ts';
import type { MetadataValues } from '../endpoints/metadata.ts';
import type { SendingMode } from '../endpoints/replies/sending.ts';
import type { MakesTokenMembers } from '../resource/token-accessor.ts';
import { leftMetadata } from '../store/left-metadata.ts';
import { examineOutbox } from '../outbox/examination.ts';
import type { Deliver } from '../outbox/message.ts';
import { oldMessages } from '../outbox/old-messages.ts';
import type { RevokesAlso } from '../grants/access.ts';
import type { ForgetsPerson } from '../grants/erasing.ts';
import type { EndsRequests } from '../grants/restored-access.ts';
import type { FindSid, OnSessionEnd } from '../host/session-ends.ts';
import type { Server } from '../server.ts';
import type { ExpiringRows } from '../store/pruning.ts';
import type { Catalogs } from '../pages/speaking.ts';
import { collectDescriptions, type DescribesDetails } from '../tokens/details.ts';
import { DroppedScopes } from '../tokens/dropped-scopes.ts';

/** Everything that the features add to the server. */
export interface Contributions extends AuthorizationAdditions {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Null if the server does not support client keys. */
  readonly clientAssertions: NonNullable<Contribution['clientAssertions']> | null;
  /** One entry for each type of token. Empty if the server does not accept workload tokens. */
  readonly workloads: readonly ClientAssertions[];
  /** Verifies client secrets. Null if the server uses the host's hasher. */
  readonly secretHasher: PasswordHasher | null;
  /** Tells clients where the API's metadata is. Null if challenges do not link to it. */
  readonly resource: PublishedResource | null;
  /** Decides about the second use of a refresh token. Null if every second use is a replay. */
  readonly secondUses: NonNullable<Contribution['secondUses']> | null;
  /** Portico's grant types, then those of features. */
  readonly grants: readonly GrantType[];
  readonly grantTypes: GrantTypes;
  /** The features' grants that create authorizations, grouped by who gives the access. */
  readonly furtherGrants: Readonly<Record<Beginning, readonly string[]>>;
  /** Checks and ends access from organizations. Null if organizations cannot give access. */
  readonly givenAccess: GivenAccess | null;
  /** Reads token requests whose assertion identifies the client. Null if no grant accepts these. */
  readonly assertionGrant: AssertionGrant | null;
  readonly issuanceChecks: readonly IssuanceCheck[];
  readonly responseModes: ResponseModes<SendingMode>;
  /** Describes authorization details, for ID tokens and introspection responses. */
  readonly describe: DescribesDetails;
  /** Called when a session of the application ends. */
  readonly sessionEnds: readonly OnSessionEnd[];
  /** Null if ID tokens contain no `sid`. */
  readonly sid: FindSid | null;
  /** Functions that remove everything that features store about a person. */
  readonly forgetting: readonly ForgetsPerson[];
  /** Functions that end the stored requests that wait for a person's answer. */
  readonly endingRequests: readonly EndsRequests[];
  /**
   * Functions that decide which authorizations are revoked together when an operator revokes one.
   */
  readonly revokedAlso: readonly RevokesAlso[];
  readonly tokenMembers: readonly MakesTokenMembers[];
  readonly metadataValues: MetadataValues;
  /** Returns the endpoints of all features that are on. */
  readonly endpoints: (parts: Parts) => readonly OwnEndpoint[];
  /** Receives audit events in addition to the host. */
  readonly auditSink: AuditSink;
  /** The rows of features that expire, for `oauth:prune`. */
  readonly expiring: readonly ExpiringRows[];
  /** True if any feature needs single-use values. */
  readonly usesOnce: boolean;
  /** The delivery function for each kind of message. */
  readonly deliveries: Readonly<Record<string, Deliver>>;
  readonly plainEndpoints: readonly Endpoint[];
  readonly members: (parts: Parts) => FeatureMembers;
  readonly examinations: (parts: Parts) => readonly Examination[];
}

/** The demands that clients can have, for example that their tokens are bound to a key. */
export function demandsOfFeatures(
  features: readonly Feature[],
  config: OAuthServerConfig,
): readonly ClientDemand[] {
  return features
    .flatMap(({ clientDemands = [] }) => clientDemands)
    .map((demand) => ({ ...demand, isMet: demand.meets(config) }));
}

export function collectTokenSchemes(
  features: readonly Feature[],
  config: OAuthServerConfig,
): readonly string[] {
  return features.flatMap((feature) => feature.tokenSchemes?.(config) ?? []);
}

export function collectAlgorithms(features: readonly Feature[]): SigningAlgorithms {
  return new SigningAlgorithms(features.flatMap(({ signingAlgorithms = [] }) => signingAlgorithms));
}

/** Returns the languages of the features. English is built in. */
export function collectCatalogs(features: readonly Feature[]): Catalogs {
  return Object.assign({}, ...features.map(({ messages }) => messages)) as Catalogs;
}

/**
 * Starts the features in order. Throws if a feature adds something invalid, or if two features
 * cannot be combined.
 */
export function startFeatures(features: readonly Feature[], server: Server): Contributions {
  requireOwnEndpoints(features);
  const started = features.map((feature): Started => ({
    ...feature.start?.(server, server.config),
    feature,
  }));
  const grants = collectGrantTypes(started);
  return {
    metadata: collectMetadata(started),
    grants,
    grantTypes: new GrantTypes(grants),
    furtherGrants: collectFurtherGrants(started),
    clientSource: only(started, 'clientSource'),
    clientAssertions: only(started, 'clientAssertions'),
    workloads: only(started, 'workloads') ?? [],
    binding: only(started, 'binding'),
    givenAccess: only(started, 'givenAccess'),
    assertionGrant: only(started, 'assertionGrant'),
    directRequests: only(started, 'directRequests'),
    accessPath: only(started, 'accessPath'),
    scopeChoices: only(started, 'scopeChoices'),
    earlierScopes: only(started, 'earlierScopes'),
    priorConsent: only(started, 'priorConsent'),
    consentAnswered: all(started, 'consentAnswered'),
    resource: only(started, 'resource'),
    logos: only(started, 'logos'),
    secretHasher: only(started, 'secretHasher'),
    secondUses: only(started, 'secondUses'),
    indirectRefusals: all(started, 'indirectRefusal'),
    mayRedirect: mayRedirectWith(all(started, 'mayRedirect')),
    droppedScopes: new DroppedScopes(server, all(started, 'dropsScope')),
    responseModes: new ResponseModes(collectResponseModes(started)),
    issuanceChecks: [requireKnownDemands(server.demands), ...all(started, 'issuanceCheck')],
    auditSink: only(started, 'auditSink') ?? NO_AUDIT_SINK,
    reading: collectReading(started),
    interaction: only(started, 'interaction'),
    keptDetails: all(started, 'keepsDetails'),
    sessionEnds: all(started, 'sessionEnded'),
    sid: only(started, 'sid'),
    forgetting: all(started, 'forgetsPerson'),
    endingRequests: all(started, 'endsRequests'),
    revokedAlso: all(started, 'revokesAlso'),
    describe: collectDescriptions(all(started, 'describe')),
    tokenMembers: all(started, 'tokenMembers'),
    metadataValues: collectValues(all(started, 'metadataValues')),
    deliveries: collectDeliveries(started, server.config),
    expiring: collectExpiring(started, server),
    usesOnce: started.some(({ usesOnce }) => usesOnce === true),
    examinations: (parts) => [
      ...all(started, 'examination').map((examine) => examine(parts)),
      ...(server.outbox.isOn ? [examineOutbox(server.outbox)] : []),
    ],
    plainEndpoints: started.flatMap(({ plainEndpoints = [] }) => plainEndpoints),
    members: (parts) =>
      Object.assign(
        { initialAccessTokens: NO_INITIAL_ACCESS_TOKENS },
        ...started.map(({ members }) => members?.(parts)),
      ) as FeatureMembers,
    endpoints: (parts) => started.flatMap((each) => listEndpoints(each, parts)),
  };
}

function collectFurtherGrants(started: readonly Started[]): Contributions['furtherGrants'] {
  const own = new GrantTypes(started.flatMap((each) => each.grants ?? []));
  return {
    person: own.beginningAs('person'),
    organization: own.beginningAs('organization'),
    client: own.beginningAs('client'),
  };
}

/** The rows that `oauth:prune` removes in addition to Portico's own. */
function collectExpiring(
  started: readonly Started[],
  { furtherMetadata, outbox }: Server,
): Contributions['expiring'] {
  return [
    ...all(started, 'expiring'),
    ...(furtherMetadata.fields.length > 0 ? [leftMetadata(furtherMetadata)] : []),
    ...(outbox.isOn ? [oldMessages(outbox)] : []),
  ];
}

function all<Name extends keyof Contribution>(
  started: readonly Started[],
  name: Name,
): readonly NonNullable<Contribution[Name]>[] {
  return started.flatMap((each) => each[name] ?? []) as readonly NonNullable<Contribution[Name]>[];
}

/** Returns null if no feature has this member. Throws if two features have it. */
function only<Name extends keyof Contribution>(
  started: readonly Started[],
  name: Name,
): NonNullable<Contribution[Name]> | null {
  const all = started.map((each): readonly [Feature, Contribution] => [each.feature, each]);
  return findOnly(all, name)?.[name] ?? null;
}

/** The values that features add to lists in the metadata. */
function collectValues(added: readonly MetadataValues[]): MetadataValues {
  return {
    prompt_values_supported: added.flatMap((each) => each.prompt_values_supported ?? []),
    claims_supported: added.flatMap((each) => each.claims_supported ?? []),
    grant_types_supported: added.flatMap((each) => each.grant_types_supported ?? []),
  };
}

function listEndpoints({ feature, handlers }: Started, parts: Parts): readonly OwnEndpoint[] {
  const answering = handlers?.(parts) ?? {};
  return (feature.endpoints ?? []).flatMap((description) => {
    const handler = answering[description.name];
    return handler === undefined ? [] : [{ description, handler }];
  });
}

/**
 * Returns a check before tokens are issued. It rejects clients with a demand that no feature
 * supports.
 */
function requireKnownDemands(demands: readonly ClientDemand[]): IssuanceCheck {
  const unknown = (Object.keys(NO_DEMANDS) as DemandField[]).filter(
    (field) => !demands.some((demand) => demand.field === field),
  );
  return (client) => {
    const demanded = unknown.find((field) => client[field]);
    if (demanded === undefined) return;
    throw new OAuthError(
      'unauthorized_client',
      'The client demands what this server does not offer.',
      `no token is issued: the client requires ${demanded}, but no feature of this server ` +
        'provides it',
    );
  };
}
