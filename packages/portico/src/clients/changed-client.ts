import { RegistrationError } from '../errors.ts';
import type { FurtherValues } from '../store/further-metadata.ts';
import { DEFAULT_ALGORITHM } from '../keys/algorithms.ts';
import type { Server } from '../server.ts';
import type { Client, ClientKeys } from '../store/client.ts';
import { registrationOfDemands } from '../store/client-demands.ts';
import type { GrantTypes } from '../store/grant-types.ts';
import { OFFLINE_ACCESS } from '../tokens/scopes.ts';
import { NO_KEYS } from './checking.ts';
import type { NamedKeys } from './registered-keys.ts';
import { checkRegistration } from './registration.ts';

/**
 * Changes to a client that an operator registered. If a field is missing, that part of the client
 * does not change.
 */
export interface ClientChanges {
  /** The new name, 1 to 100 characters long. */
  readonly name?: string;
  /**
   * Values of metadata fields that features add. Each field that you pass replaces the field's
   * previous values.
   */
  readonly metadata?: FurtherValues;
  /** The redirect URIs to add. They may include existing redirect URIs. */
  readonly addRedirectUris?: readonly string[];
  /** The redirect URIs to remove. Each must match an existing redirect URI exactly. */
  readonly removeRedirectUris?: readonly string[];
  /**
   * Private-use schemes without a dot that the new redirect URIs may use. See
   * `ClientRegistration.allowedSchemes`.
   */
  readonly allowedSchemes?: readonly string[];
  /** The scopes to add. Each scope must be built in or listed in `oauth_server:scopes`. */
  readonly addScopes?: readonly string[];
  /** The scopes to remove. The client must have each of them. */
  readonly removeScopes?: readonly string[];
  /**
   * The grants to add: `authorization_code`, `refresh_token`, `client_credentials`,
   * `introspection`, or a feature's grant type.
   */
  readonly addGrants?: readonly string[];
  /**
   * The grants to remove. The client must have each of them. Tokens that the client got with such a
   * grant stop working until you add the grant again.
   */
  readonly removeGrants?: readonly string[];
  /** The new public keys (RFC 7517). Only for a client that already authenticates with keys. */
  readonly jwks?: unknown;
  /** The `https` URL where the client publishes its keys. Use it instead of `jwks`. */
  readonly jwksUri?: string;
  /**
   * The only algorithm that the client may use to sign assertions. Defaults to the current setting.
   */
  readonly tokenEndpointAuthSigningAlg?: string;
  /** The URL of the new website. Null removes the website. */
  readonly siteUri?: string | null;
  /** The new logo. The limits are the same as at registration. Null removes the logo. */
  readonly logo?: Uint8Array | null;
  /**
   * The logo's URL. Use it instead of `logo`. The server fetches the logo once, during the update.
   */
  readonly logoUri?: string;
}

/**
 * Returns the changed client, without its website and logo. `ClientUpdates` adds these. Throws if
 * the result is not a valid registration.
 */
export async function changedClient(
  client: Client,
  changes: ClientChanges,
  server: Server,
): Promise<Client> {
  const redirectUris = list(
    'redirect URI',
    client.redirectUris,
    changes.addRedirectUris,
    changes.removeRedirectUris,
  );
  // Portico never stores `offline_access` with a client.
  const added = changes.addScopes?.filter((name) => name !== OFFLINE_ACCESS);
  const scopes = list('scope', client.scopes, added, changes.removeScopes);
  const grants = list('grant', client.grants, changes.addGrants, changes.removeGrants);
  const grantTypes = server.grantTypes();
  // If the scopes and grants do not change, do not check whether they fit together: the
  // configuration may no longer offer all of them, which must not block other changes.
  const keepsRights = isSame(scopes, client.scopes) && isSame(grants, client.grants);
  requireWhole(redirectUris, grants, keepsRights ? null : grantTypes);
  const keys = namedKeys(client, changes, server.takesKeys());
  // For the same reason, leave out the client's scopes and grants that are no longer offered.
  const known = scopes.filter((name) => server.scopes.has(name) || !client.scopes.includes(name));
  const offered = grants.filter(
    (name) => grantTypes.rights.includes(name) || !client.grants.includes(name),
  );
  const hasIdTokens = (of: {
    readonly scopes: readonly string[];
    readonly grants: readonly string[];
  }) => of.scopes.includes('openid') && grantTypes.begin(of.grants, 'person');
  const registration = {
    name: changes.name ?? client.name,
    redirectUris,
    allowedSchemes: changes.allowedSchemes ?? [],
    scopes: known,
    grants: offered,
    public: client.public,
    applicationType: client.applicationType,
    ...registrationOfDemands(client),
    ...keys,
    ...(client.profile === null ? {} : { profile: client.profile }),
    // Keep the algorithm that signs the client's ID tokens, or that did so earlier. A client that
    // loses its right to ID tokens and gets it again keeps its algorithm (AS-30.3).
    ...(hasIdTokens({ scopes, grants }) &&
    (hasIdTokens(client) || client.idTokenSignedResponseAlg !== DEFAULT_ALGORITHM)
      ? { idTokenSignedResponseAlg: client.idTokenSignedResponseAlg }
      : {}),
  };
  const checked = await checkRegistration(registration, server, { client, keepsRights });
  const { siteUri: _, logoHash: __, ...others } = client;
  return {
    ...others,
    name: checked.name,
    redirectUris: checked.redirectUris,
    scopes,
    grants: keepsRights
      ? client.grants
      : [...checked.grants, ...grants.filter((name) => !checked.grants.includes(name))],
    keys: bringsKeys(changes) ? checked.keys : client.keys,
    idTokenSignedResponseAlg: hasIdTokens(checked)
      ? checked.idTokenSignedResponseAlg
      : client.idTokenSignedResponseAlg,
  };
}

/** Returns the current values without the removed ones, plus the added ones. */
function list(
  what: string,
  has: readonly string[],
  added: readonly string[] = [],
  removed: readonly string[] = [],
): readonly string[] {
  const both = added.find((each) => removed.includes(each));
  if (both !== undefined)
    throw new RegistrationError(
      `The ${what} ${JSON.stringify(both)} cannot be both added and removed`,
    );
  const unknown = removed.find((each) => !has.includes(each));
  if (unknown !== undefined) {
    throw new RegistrationError(
      `The client does not have the ${what} ${JSON.stringify(unknown)}; it has ` +
        (has.map((each) => JSON.stringify(each)).join(', ') || 'none'),
    );
  }
  return [...new Set([...has.filter((each) => !removed.includes(each)), ...added])];
}

/** Whether a list from `list` contains the same values as before. */
function isSame(values: readonly string[], before: readonly string[]): boolean {
  return values.length === before.length && values.every((each) => before.includes(each));
}

/**
 * Throws if the changed client has no grant, or if its grants and redirect URIs do not fit
 * together. Call this before `checkRegistration`, which would otherwise add the default grants
 * again, although the caller removed them. Without `grantTypes`, does not check whether a grant
 * starts the access that `refresh_token` continues.
 */
function requireWhole(
  redirectUris: readonly string[],
  grants: readonly string[],
  grantTypes: GrantTypes | null,
): void {
  const hasCode = grants.includes('authorization_code');
  if (grants.length === 0) {
    throw new RegistrationError(
      'The client would have no grant left; to revoke the client, use oauth:client:revoke',
    );
  }
  if (hasCode && redirectUris.length === 0) {
    throw new RegistrationError(
      'The grant authorization_code needs a redirect URI; add one, or remove the grant too',
    );
  }
  if (!hasCode && redirectUris.length > 0) {
    throw new RegistrationError(
      'Redirect URIs need the grant authorization_code; add that grant, or ' +
        `remove ${redirectUris.join(', ')}`,
    );
  }
  if (grantTypes === null) return;
  if (grants.includes('refresh_token') && !grantTypes.begin(grants, 'person')) {
    const beginnings = grantTypes.beginning('person').join(' or ');
    throw new RegistrationError(
      `The grant refresh_token needs ${beginnings}; add or keep that grant, or remove ` +
        'refresh_token too',
    );
  }
}

function bringsKeys({
  jwks,
  jwksUri,
  tokenEndpointAuthSigningAlg: algorithm,
}: ClientChanges): boolean {
  return jwks !== undefined || jwksUri !== undefined || algorithm !== undefined;
}

/**
 * Returns the changed keys or workload as registration fields. Returns null if the client has
 * neither.
 */
function namedKeys({ keys }: Client, changes: ClientChanges, takesKeys: boolean): NamedKeys | null {
  if (bringsKeys(changes) && !takesKeys) throw new RegistrationError(NO_KEYS);
  if (keys === null || keys.workload !== undefined) {
    const { workload } = keys ?? {};
    if (!bringsKeys(changes)) return workload === undefined ? null : { workload };
    throw new RegistrationError(
      'This client does not authenticate with keys, so its keys cannot be changed; register a ' +
        'new client with keys',
    );
  }
  const algorithm = changes.tokenEndpointAuthSigningAlg ?? keys.algorithm;
  const { jwks, jwksUri } = changes;
  return {
    ...(jwks === undefined && jwksUri === undefined
      ? getPlace(keys)
      : { jwks, ...(jwksUri === undefined ? {} : { jwksUri }) }),
    ...(algorithm === null ? {} : { tokenEndpointAuthSigningAlg: algorithm }),
  };
}

function getPlace({ jwks, jwksUri }: ClientKeys): NamedKeys {
  return jwksUri === null ? { jwks: JSON.parse(jwks ?? 'null') as unknown } : { jwksUri };
}
