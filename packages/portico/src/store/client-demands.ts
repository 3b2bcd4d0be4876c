import type { Client } from './client.ts';

/**
 * A protection that a client can require with a flag in its metadata (RFC 7591 section 2). A
 * feature provides the protection.
 */
export interface ClientDemand extends DemandDescription {
  /** True if the current configuration provides the protection. */
  readonly isMet: boolean;
}

/** What does not depend on the server's configuration. */
export interface DemandDescription {
  /** For example `require_pushed_authorization_requests`. */
  readonly metadata: string;
  /** The client field that stores the demand. */
  readonly field: DemandField;
  /** The `oauth_server` setting that turns the feature on. */
  readonly key: string;
  /** The error message for a client with this demand while the setting is off. */
  readonly unmet: string;
  /** What happens to clients with this demand while the setting is off. The text follows "so". */
  readonly effect: string;
  /**
   * True to check the demand strictly in client documents. Portico then refuses a document whose
   * flag is not a boolean. It also fetches the document again if the server can no longer meet the
   * demand.
   */
  readonly isStrict: boolean;
  /** The option of `oauth:client:create` that sets the demand. */
  readonly option: { readonly flag: string; readonly says: string };
  /** The texts that show the demand to operators. */
  readonly shown: { readonly what: string; readonly as: string; readonly inFull: string };
}

/**
 * Maps each demand's client field to its name in a registration. The store has a column for each of
 * them.
 */
const ASKED = {
  pushesRequests: 'requirePushedAuthorizationRequests',
  dpopBoundAccessTokens: 'dpopBoundAccessTokens',
} as const satisfies Partial<Record<keyof Client, string>>;

export type DemandField = keyof typeof ASKED;

/** A missing field means that the client does not make the demand. */
type AskedDemands = { readonly [Field in DemandField as (typeof ASKED)[Field]]?: boolean };

export type ClientDemands = { readonly [Field in DemandField]: boolean };

const FIELDS = Object.keys(ASKED) as readonly DemandField[];

function demandsWhere(isDemanded: (field: DemandField) => boolean): ClientDemands {
  return Object.fromEntries(FIELDS.map((field) => [field, isDemanded(field)])) as Record<
    DemandField,
    boolean
  >;
}

export const NO_DEMANDS: ClientDemands = demandsWhere(() => false);

/** With `all`, the client's profile requires every demand. */
export function getDemands(registration: AskedDemands, all: boolean): ClientDemands {
  return demandsWhere((field) => all || registration[ASKED[field]] === true);
}

/** `isSet` decides which demands the client has. */
export function demandsSet<Demand extends DemandDescription>(
  demands: readonly Demand[],
  isSet: (demand: Demand) => boolean,
): ClientDemands {
  const fields = new Set(demands.filter(isSet).map(({ field }) => field));
  return demandsWhere((field) => fields.has(field));
}

export function registrationOfDemands(demanded: ClientDemands): AskedDemands {
  return Object.fromEntries(FIELDS.map((field) => [ASKED[field], demanded[field]]));
}

/** Returns the demands that `isSet` accepts, as registration fields. */
export function askedDemands<Demand extends DemandDescription>(
  demands: readonly Demand[],
  isSet: (demand: Demand) => boolean,
): AskedDemands {
  return registrationOfDemands(demandsSet(demands, isSet));
}

/** Returns why the server cannot meet a client's demands, or null. */
export function unmetProblem(
  demands: readonly ClientDemand[],
  demanded: ClientDemands,
): string | null {
  for (const field of FIELDS.filter((each) => demanded[each])) {
    const demand = demands.find((each) => each.field === field);
    if (demand === undefined) return `this server does not offer ${ASKED[field]}`;
    if (!demand.isMet) return demand.unmet;
  }
  return null;
}

/** By their names in metadata. */
export function demandMetadata(
  demands: readonly ClientDemand[],
  demanded: ClientDemands,
): Readonly<Record<string, true>> {
  return Object.fromEntries(
    demands.filter(({ field }) => demanded[field]).map(({ metadata }) => [metadata, true]),
  );
}
