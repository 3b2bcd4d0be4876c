import type { Client } from './client.ts';

/**
 * A protection that a client can require with a flag in its metadata (RFC 7591 section 2). A
 * feature provides the protection.
 */
export interface ClientDemand extends DemandDescription {
  /** Whether the current configuration provides the protection. */
  readonly isMet: boolean;
}

/** The properties of a demand that do not depend on the server's configuration. */
export interface DemandDescription {
  /** The flag's name in metadata, for example `require_pushed_authorization_requests`. */
  readonly metadata: string;
  /** The client field that stores the demand. */
  readonly field: DemandField;
  /** The `oauth_server` setting that turns the feature on. */
  readonly key: string;
  /**
   * The error message for an attempt to register a client with this demand while the setting is
   * off.
   */
  readonly unmet: string;
  /**
   * What happens to clients with this demand while the setting is off. The text follows "so" in a
   * sentence.
   */
  readonly effect: string;
  /**
   * Whether the demand is checked strictly in client documents. If true, Portico rejects a document
   * whose flag is not a boolean. Portico also fetches the document again when the server can no
   * longer meet the demand.
   */
  readonly isStrict: boolean;
  /** The option of `oauth:client:create` that sets the demand. */
  readonly option: { readonly flag: string; readonly says: string };
  /** The texts that show the demand to operators. */
  readonly shown: { readonly what: string; readonly as: string; readonly inFull: string };
}

/**
 * Maps the client field of each demand to the demand's name in a registration. The store has a
 * column for each of these demands.
 */
const ASKED = {
  pushesRequests: 'requirePushedAuthorizationRequests',
  dpopBoundAccessTokens: 'dpopBoundAccessTokens',
} as const satisfies Partial<Record<keyof Client, string>>;

/** The client fields that store demands. */
export type DemandField = keyof typeof ASKED;

/**
 * The demands in a registration. A missing field means that the client does not make the demand.
 */
type AskedDemands = { readonly [Field in DemandField as (typeof ASKED)[Field]]?: boolean };

/** A client's demands. */
export type ClientDemands = { readonly [Field in DemandField]: boolean };

const FIELDS = Object.keys(ASKED) as readonly DemandField[];

function demandsWhere(isDemanded: (field: DemandField) => boolean): ClientDemands {
  return Object.fromEntries(FIELDS.map((field) => [field, isDemanded(field)])) as Record<
    DemandField,
    boolean
  >;
}

/** The value for a client that makes no demands. */
export const NO_DEMANDS: ClientDemands = demandsWhere(() => false);

/**
 * Returns the demands in a registration. If `all` is true, returns all demands, because the
 * client's profile requires them.
 */
export function getDemands(registration: AskedDemands, all: boolean): ClientDemands {
  return demandsWhere((field) => all || registration[ASKED[field]] === true);
}

/** Returns a client's demands. `isSet` decides which demands the client has. */
export function demandsSet<Demand extends DemandDescription>(
  demands: readonly Demand[],
  isSet: (demand: Demand) => boolean,
): ClientDemands {
  const fields = new Set(demands.filter(isSet).map(({ field }) => field));
  return demandsWhere((field) => fields.has(field));
}

/** Returns the demands as registration fields. */
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

/**
 * Returns the reason why the server cannot meet a client's demands, or null if it can meet all of
 * them.
 */
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

/** Returns the flags of a client's demands, by their names in metadata. */
export function demandMetadata(
  demands: readonly ClientDemand[],
  demanded: ClientDemands,
): Readonly<Record<string, true>> {
  return Object.fromEntries(
    demands.filter(({ field }) => demanded[field]).map(({ metadata }) => [metadata, true]),
  );
}
