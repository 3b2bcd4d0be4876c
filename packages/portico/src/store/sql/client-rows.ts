import type { SqlParameter } from '@portico/sql';
import type {
  ApplicationType,
  Client,
  ClientKeys,
  ClientLook,
  RegisteredBy,
  SigningAlgorithm,
} from '../client.ts';
import { words } from './statements.ts';

/** Statements list all columns: a newer release may add columns while this process is running. */
export const CLIENT_COLUMNS = `client_id, name, redirect_uris, scope, grants, is_public, secret_hash, secret_expires_at,
  previous_secret_hash, previous_secret_expires_at, created_at, revoked_at, id_token_alg, application_type, registered_by, used_at,
  profile, token_endpoint_auth_method, token_endpoint_auth_signing_alg, jwks, jwks_uri, pushes_requests,
  dpop_bound_access_tokens, client_uri, logo_hash`;

/** Sets the columns for `keyValues`. */
export const SET_KEYS =
  'token_endpoint_auth_method = ?, token_endpoint_auth_signing_alg = ?, jwks = ?, jwks_uri = ' +
  '?, pushes_requests = ?, dpop_bound_access_tokens = ?';

/** Returns the values for `CLIENT_COLUMNS`. */
export function clientValues(client: Client): readonly SqlParameter[] {
  return [
    client.id,
    client.name,
    JSON.stringify(client.redirectUris),
    client.scopes.join(' '),
    client.grants.join(' '),
    client.public ? 1 : 0,
    client.secretHash,
    client.secretExpiresAt,
    client.previousSecretHash,
    client.previousSecretExpiresAt,
    client.createdAt,
    client.revokedAt,
    client.idTokenSignedResponseAlg,
    client.applicationType,
    client.registeredBy,
    client.usedAt,
    client.profile,
    ...keyValues(client),
    client.siteUri ?? null,
    client.logoHash ?? null,
  ];
}

/** Returns the values for `SET_KEYS`, and for the same columns in `CLIENT_COLUMNS`. */
export function keyValues({
  keys,
  pushesRequests,
  dpopBoundAccessTokens: isBound,
}: Client): readonly SqlParameter[] {
  return [...columnsOf(keys), pushesRequests ? 1 : null, isBound ? 1 : null];
}

/** Older releases do not know the method `workload`. Such a client cannot authenticate there. */
function columnsOf(keys: ClientKeys | null): readonly (string | null)[] {
  if (keys === null) return [null, null, null, null];
  const { workload } = keys;
  return workload === undefined
    ? ['private_key_jwt', keys.algorithm, keys.jwks, keys.jwksUri]
    : ['workload', null, workload.subject, workload.issuer];
}

export interface ClientRow {
  readonly client_id: string;
  readonly name: string;
  readonly redirect_uris: string;
  readonly scope: string;
  readonly grants: string;
  readonly is_public: number;
  readonly secret_hash: string | null;
  readonly secret_expires_at: number | null;
  readonly previous_secret_hash: string | null;
  readonly previous_secret_expires_at: number | null;
  readonly created_at: number;
  readonly revoked_at: number | null;
  /** Null means RS256. */
  readonly id_token_alg: SigningAlgorithm | null;
  /** Null means `web`. */
  readonly application_type: ApplicationType | null;
  /** Null means `operator`. */
  readonly registered_by: RegisteredBy | null;
  readonly used_at: number | null;
  readonly profile: string | null;
  /** `private_key_jwt` or `workload`. Null for a client without keys. */
  readonly token_endpoint_auth_method: string | null;
  readonly token_endpoint_auth_signing_alg: string | null;
  /** The key set, or a workload's subject. */
  readonly jwks: string | null;
  /** The URL of the key set, or a workload's issuer. */
  readonly jwks_uri: string | null;
  readonly pushes_requests: number | null;
  readonly dpop_bound_access_tokens: number | null;
  readonly client_uri: string | null;
  readonly logo_hash: string | null;
}

export function toClient(row: ClientRow): Client {
  return {
    id: row.client_id,
    name: row.name,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    scopes: words(row.scope),
    grants: words(row.grants),
    idTokenSignedResponseAlg: row.id_token_alg ?? 'RS256',
    public: row.is_public === 1,
    applicationType: row.application_type ?? 'web',
    registeredBy: row.registered_by ?? 'operator',
    keys: row.token_endpoint_auth_method === null ? null : getKeys(row),
    pushesRequests: row.pushes_requests === 1,
    dpopBoundAccessTokens: row.dpop_bound_access_tokens === 1,
    profile: row.profile,
    secretHash: row.secret_hash,
    secretExpiresAt: row.secret_expires_at,
    previousSecretHash: row.previous_secret_hash,
    previousSecretExpiresAt: row.previous_secret_expires_at,
    createdAt: row.created_at,
    usedAt: row.used_at,
    revokedAt: row.revoked_at,
    ...getLook(row),
  };
}

export function getLook({
  client_uri: siteUri,
  logo_hash: logoHash,
}: Pick<ClientRow, 'client_uri' | 'logo_hash'>): ClientLook {
  return { ...(siteUri === null ? {} : { siteUri }), ...(logoHash === null ? {} : { logoHash }) };
}

/** If this release does not know the method, the client cannot authenticate with keys. */
function getKeys(row: ClientRow): ClientKeys {
  const { token_endpoint_auth_method: method, jwks, jwks_uri: jwksUri } = row;
  if (method === 'private_key_jwt')
    return { jwks, jwksUri, algorithm: row.token_endpoint_auth_signing_alg };
  const none = { jwks: null, jwksUri: null, algorithm: null };
  return method === 'workload' && jwks !== null && jwksUri !== null
    ? { ...none, workload: { issuer: jwksUri, subject: jwks } }
    : none;
}
