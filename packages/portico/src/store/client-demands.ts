import type { Client } from './client.ts';

/**
 * What a client may demand for its own protection, by a flag of its metadata (RFC 7591 section 2).
 * A feature of the server meets it.
 */
export interface ClientDemand extends DemandDescription {
  /** Whether the feature meets it as the server is configured. */
  readonly isMet: boolean;
}

/** What is fixed about a demand. */
export interface DemandDescription {
  /** The name of the flag in metadata, such as `require_pushed_authorization_requests`. */
  readonly metadata: string;
  /** Where the store keeps it. */
  readonly field: DemandField;
  /** The key of `oauth_server` that switches the feature on. */
  readonly key: string;
  /** What a registration is told while that is off. */
  readonly unmet: string;
  /** What happens to these clients while that is off: continues a sentence after "so". */
  readonly effect: string;
  /**
   * Whether a document whose flag is not a boolean is refused, and fetched again when the
   * demand is no longer met.
   */
  readonly isStrict: boolean;
  /** The option of `oauth:client:create`. */
  readonly option: { readonly flag: string; readonly says: string };
  /** How an operator reads it. */
  readonly shown: { readonly what: string; readonly as: string; readonly inFull: string };
}

/** The demands that the store has a place for, and where a registration says each. */
const ASKED = {
  pushesRequests: 'requirePushedAuthorizationRequests',
  dpopBoundAccessTokens: 'dpopBoundAccessTokens',
} as const satisfies Partial<Record<keyof Client, string>>;

/** The fields of a client that the store keeps demands in. */
export type DemandField = keyof typeof ASKED;

/** What a registration says of demands. */
type AskedDemands = { readonly [Field in DemandField as (typeof ASKED)[Field]]?: boolean };

/** What a client demands. */
export type ClientDemands = { readonly [Field in DemandField]: boolean };

const FIELDS = Object.keys(ASKED) as readonly DemandField[];

function demandsWhere(isDemanded: (field: DemandField) => boolean): ClientDemands {
  return Object.fromEntries(FIELDS.map((field) => [field, isDemanded(field)])) as Record<
    DemandField,
    boolean
  >;
}

/** Of a client that demands nothing. */
export const NO_DEMANDS: ClientDemands = demandsWhere(() => false);

/** What a registration demands; `all` when its profile demands all that there is. */
export function getDemands(registration: AskedDemands, all: boolean): ClientDemands {
  return demandsWhere((field) => all || registration[ASKED[field]] === true);
}

/** The demands whose flag `isSet`, as a client has them. */
export function demandsSet<Demand extends DemandDescription>(
  demands: readonly Demand[],
  isSet: (demand: Demand) => boolean,
): ClientDemands {
  const fields = new Set(demands.filter(isSet).map(({ field }) => field));
  return demandsWhere((field) => fields.has(field));
}

/** The same as a registration says it. */
export function registrationOfDemands(demanded: ClientDemands): AskedDemands {
  return Object.fromEntries(FIELDS.map((field) => [ASKED[field], demanded[field]]));
}

/** Why a client cannot have what it demands; null when all of that is met. */
export function unmetProblem(demands: readonly ClientDemand[], demanded: ClientDemands): string | null {
  for (const field of FIELDS.filter((each) => demanded[each])) {
    const demand = demands.find((each) => each.field === field);
    if (demand === undefined) return `${ASKED[field]} is nothing that this server offers`;
    if (!demand.isMet) return demand.unmet;
  }
  return null;
}

/** The flags that a client has set, by their names. */
export function demandMetadata(
  demands: readonly ClientDemand[],
  demanded: ClientDemands,
): Readonly<Record<string, true>> {
  return Object.fromEntries(
    demands.filter(({ field }) => demanded[field]).map(({ metadata }) => [metadata, true]),
  );
}
