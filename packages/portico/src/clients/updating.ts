import { actedBy, type Acting } from '../auditing/audit.ts';
import { RegistrationError } from '../errors.ts';
import { DEFAULT_ALGORITHM } from '../keys/algorithms.ts';
import type { Client, ClientKeys, ClientLogo, ClientLook, Workload } from '../store/client.ts';
import { OFFLINE_ACCESS } from '../tokens/scopes.ts';
import type { Server } from '../server.ts';
import type { FurtherValues } from '../further-metadata/further-metadata.ts';
import type { GrantTypes } from '../store/grant-types.ts';
import { NO_KEYS } from './checking.ts';
import { namedLogo, type ClientLogos } from './logos.ts';
import { checkSite } from './sites.ts';
import { registrationOfDemands } from '../store/client-demands.ts';
import { describeKeys, type DescribedKey } from './describing.ts';
import { checkRegistration } from './registration.ts';

/** Changes to a client that an operator registered. Missing fields stay unchanged. */
export interface ClientChanges {
  /** The new name, 1 to 100 characters. */
  readonly name?: string;
  /**
   * Metadata that features add. A field that you pass replaces its earlier values. Other fields
   * stay.
   */
  readonly metadata?: FurtherValues;
  /** The redirect URIs to add. They may include existing ones. */
  readonly addRedirectUris?: readonly string[];
  /** The redirect URIs to remove. Each must match an existing one exactly. */
  readonly removeRedirectUris?: readonly string[];
  /**
   * Private-use schemes without a dot that the added redirect URIs may use, as in a registration.
   */
  readonly allowedSchemes?: readonly string[];
  /** The scopes to add. Each is built in or listed in `oauth_server:scopes`. */
  readonly addScopes?: readonly string[];
  /** The scopes to remove. The client must have each of them. */
  readonly removeScopes?: readonly string[];
  /**
   * The grants to add: `authorization_code`, `refresh_token`, `client_credentials`,
   * `introspection`, or a feature's grant type.
   */
  readonly addGrants?: readonly string[];
  /**
   * The grants to remove. The client must have each of them. Tokens from a removed grant do not
   * work until you add the grant again.
   */
  readonly removeGrants?: readonly string[];
  /** The new public keys (RFC 7517). Only for a client that authenticates with keys. */
  readonly jwks?: unknown;
  /** The `https` URL where the client publishes its keys. Use it instead of `jwks`. */
  readonly jwksUri?: string;
  /**
   * The only algorithm that the client may sign assertions with after the update. By default, it
   * stays the same.
   */
  readonly tokenEndpointAuthSigningAlg?: string;
  /** The new website. Null removes it. */
  readonly siteUri?: string | null;
  /** The new logo, as in a registration. Null removes it. */
  readonly logo?: Uint8Array | null;
  /**
   * The logo's URL. Use it instead of `logo`. The server fetches the logo once, during the update.
   */
  readonly logoUri?: string;
}

/** The result of an update. */
export interface UpdatedClient {
  /** The client after the update. */
  readonly client: Client;
  /** The changed fields, under their names from RFC 7591. If this is empty, nothing was written. */
  readonly changes: FieldChanges;
}

/** The changed fields by name. A key is shown by its identifier. */
export type FieldChanges = Readonly<Record<string, FieldChange>>;

/** A field's values before and after the update. Null means that the field had no value. */
export interface FieldChange {
  /** The value before the update. */
  readonly before: FieldValue;
  /** The value after the update. */
  readonly after: FieldValue;
}

type FieldValue = string | readonly string[] | null;

/** The maximum number of attempts when other updates change the client at the same time. */
const MOST_ATTEMPTS = 20;

/** Changes clients. */
export class ClientUpdates {
  readonly #server: Server;
  readonly #logos: ClientLogos | null;
  /**
   * Returns the client with this id. Throws a RegistrationError if the client is unknown or
   * revoked.
   */
  readonly #requireLiving: (clientId: string) => Promise<Client>;

  constructor(
    server: Server,
    logos: ClientLogos | null,
    requireLiving: (clientId: string) => Promise<Client>,
  ) {
    this.#server = server;
    this.#logos = logos;
    this.#requireLiving = requireLiving;
  }

  /** See `Clients.update`. */
  async update(clientId: string, changes: ClientChanges, acting?: Acting): Promise<UpdatedClient> {
    const logo = await this.#logoOf(clientId, changes);
    for (let count = 0; count < MOST_ATTEMPTS; count += 1) {
      // Another update was faster. Do not undo it. Apply these changes to its result.
      const updated = await this.#attempt(clientId, changes, logo);
      if (updated === null) continue;
      const { client, changes: fields } = updated;
      if (Object.keys(fields).length > 0) {
        const about = { clientId, registeredBy: client.registeredBy, changes: fields };
        await this.#server.audit({ type: 'client_updated', ...about, ...actedBy(acting) });
      }
      return updated;
    }
    throw new RegistrationError(
      'The client was changed at the same time, so nothing was changed; try again',
    );
  }

  async #attempt(
    clientId: string,
    changes: ClientChanges,
    logo: ClientLogo | null | undefined,
  ): Promise<UpdatedClient | null> {
    const read = await this.#requireLiving(clientId);
    requireOperators(read);
    const client = {
      ...(await changed(read, changes, this.#server)),
      ...getShown(read, changes, logo),
    };
    const { furtherMetadata } = this.#server;
    furtherMetadata.check(changes.metadata ?? {}, read.applicationType);
    const metadata = await furtherMetadata.find(clientId);
    const fields = {
      ...differences(read, client),
      ...furtherDifferences(metadata, changes.metadata ?? {}),
    };
    if (Object.keys(fields).length === 0) return { client: read, changes: {} };
    const addition = furtherMetadata.writing(clientId, changes.metadata);
    const { clients } = this.#server.store;
    const isWritten = await clients.updateClient(read, client, { logo, addition });
    return isWritten ? { client, changes: fields } : null;
  }

  /**
   * Returns the new logo. Undefined keeps the current logo, and null removes it. This runs before
   * all checks, because it may have to fetch the logo.
   */
  async #logoOf(
    clientId: string,
    { logo, logoUri }: ClientChanges,
  ): Promise<ClientLogo | null | undefined> {
    if (logo === null) return null;
    const named = {
      ...(logo === undefined ? {} : { logo }),
      ...(logoUri === undefined ? {} : { logoUri }),
    };
    if (Object.keys(named).length === 0) return undefined;
    requireOperators(await this.#requireLiving(clientId));
    return namedLogo(named, this.#logos);
  }
}

/** Returns the metadata of features that change. */
function furtherDifferences(
  before: FurtherValues,
  after: FurtherValues,
): Readonly<Record<string, FieldChange>> {
  return Object.fromEntries(
    Object.entries(after).flatMap(([name, values]) => {
      const earlier = before[name] ?? [];
      return JSON.stringify(earlier) === JSON.stringify(values)
        ? []
        : [[name, { before: earlier, after: values }] as const];
    }),
  );
}

function requireOperators({ registeredBy }: Client): void {
  if (registeredBy === 'document') {
    throw new RegistrationError(
      'This client is defined by its document; change the document instead. To block the ' +
        'client, use oauth:client:revoke',
    );
  }
  if (registeredBy === 'registration') {
    throw new RegistrationError(
      'This client registered itself and can overwrite any change (RFC 7592). ' +
        'To end it, use oauth:client:revoke',
    );
  }
}

/** Returns the website and logo that pages show beside the client's name after these changes. */
function getShown(
  { siteUri: siteBefore, logoHash: logoBefore }: Client,
  { siteUri }: ClientChanges,
  logo: ClientLogo | null | undefined,
): ClientLook {
  const site =
    siteUri === undefined ? siteBefore : siteUri === null ? undefined : checkSite(siteUri);
  const hash = logo === undefined ? logoBefore : logo?.hash;
  return {
    ...(site === undefined ? {} : { siteUri: site }),
    ...(hash === undefined ? {} : { logoHash: hash }),
  };
}

/** Returns the client with these changes. Throws if a client like this could not be registered. */
async function changed(client: Client, changes: ClientChanges, server: Server): Promise<Client> {
  const redirectUris = list(
    'redirect URI',
    client.redirectUris,
    changes.addRedirectUris,
    changes.removeRedirectUris,
  );
  // The client is never registered for this scope, so do not add it.
  const added = changes.addScopes?.filter((name) => name !== OFFLINE_ACCESS);
  const scopes = list('scope', client.scopes, added, changes.removeScopes);
  const grants = list('grant', client.grants, changes.addGrants, changes.removeGrants);
  const grantTypes = server.grantTypes();
  requireWhole(redirectUris, grants, grantTypes);
  const keys = namedKeys(client, changes, server.takesKeys());
  // If the configuration no longer offers one of the client's scopes or grants, other changes still
  // work.
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
    // Keep the algorithm that the client had while it got ID tokens. If it gets ID tokens again,
    // they are signed as before (AS-30.3).
    ...(hasIdTokens({ scopes, grants }) &&
    (hasIdTokens(client) || client.idTokenSignedResponseAlg !== DEFAULT_ALGORITHM)
      ? { idTokenSignedResponseAlg: client.idTokenSignedResponseAlg }
      : {}),
  };
  const checked = await checkRegistration(registration, server, client);
  const { siteUri: _, logoHash: __, ...others } = client;
  return {
    ...others,
    name: checked.name,
    redirectUris: checked.redirectUris,
    scopes,
    grants: [...checked.grants, ...grants.filter((name) => !checked.grants.includes(name))],
    keys: bringsKeys(changes) ? checked.keys : client.keys,
    idTokenSignedResponseAlg: hasIdTokens(checked)
      ? checked.idTokenSignedResponseAlg
      : client.idTokenSignedResponseAlg,
  };
}

/** Returns the current values with the added ones and without the removed ones. */
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
      `The client does not have the ${what} ${JSON.stringify(unknown)}; it ` +
        `has ${has.map((each) => JSON.stringify(each)).join(', ') || 'none'}`,
    );
  }
  return [...new Set([...has.filter((each) => !removed.includes(each)), ...added])];
}

/**
 * Throws if a value is missing that a registration would fill in. An update must not restore a
 * value that was removed.
 */
function requireWhole(
  redirectUris: readonly string[],
  grants: readonly string[],
  grantTypes: GrantTypes,
): void {
  const hasCode = grants.includes('authorization_code');
  if (grants.length === 0) {
    throw new RegistrationError(
      'The client would have no grant left; to end the client, use oauth:client:revoke',
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
  if (grants.includes('refresh_token') && !grantTypes.begin(grants, 'person')) {
    const beginnings = grantTypes.beginning('person').join(' or ');
    throw new RegistrationError(
      `The grant refresh_token also needs ${beginnings}; remove refresh_token too`,
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

/** The key fields in a registration. */
interface NamedKeys {
  readonly jwks?: unknown;
  readonly jwksUri?: string;
  readonly tokenEndpointAuthSigningAlg?: string;
  readonly workload?: Workload;
}

/** Returns the keys as registration fields. Returns null for a client without keys. */
function namedKeys({ keys }: Client, changes: ClientChanges, takesKeys: boolean): NamedKeys | null {
  if (bringsKeys(changes) && !takesKeys) throw new RegistrationError(NO_KEYS);
  if (keys === null || keys.workload !== undefined) {
    const { workload } = keys ?? {};
    if (!bringsKeys(changes)) return workload === undefined ? null : { workload };
    throw new RegistrationError(
      'This client does not authenticate with keys, so you cannot change them; register ' +
        'another client',
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

/** The fields to compare, under their names from RFC 7591 section 2. */
const FIELDS: readonly (readonly [name: string, of: (client: Client) => FieldValue])[] = [
  ['client_name', ({ name }) => name],
  ['redirect_uris', ({ redirectUris }) => redirectUris],
  ['scope', ({ scopes }) => scopes],
  ['grant_types', ({ grants }) => grants],
  ['jwks', ({ keys }) => describeKeys(keys).map(getName)],
  ['jwks_uri', ({ keys }) => keys?.jwksUri ?? null],
  ['token_endpoint_auth_signing_alg', ({ keys }) => keys?.algorithm ?? null],
  ['client_uri', ({ siteUri = null }) => siteUri],
  ['logo_sha256', ({ logoHash = null }) => logoHash],
  ['id_token_signed_response_alg', ({ idTokenSignedResponseAlg: algorithm }) => algorithm],
];

function getName({ kid, thumbprint }: DescribedKey): string {
  return kid === null ? thumbprint : `${kid} ${thumbprint}`;
}

function differences(before: Client, after: Client): FieldChanges {
  return Object.fromEntries(
    FIELDS.map(([name, of]) => [name, { before: of(before), after: of(after) }] as const).filter(
      ([, change]) => JSON.stringify(change.before) !== JSON.stringify(change.after),
    ),
  );
}
