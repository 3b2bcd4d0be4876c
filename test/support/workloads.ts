import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ASSERTION_TYPE, newKey, signed, type ClientKey } from './assertions.ts';
import { requestToken, type RunningPortal } from './portal.ts';

/** Platforms that give programs a token: a Kubernetes cluster, and a SPIFFE trust domain. */

export const CLUSTER = 'https://kubernetes.default.svc.cluster.local';
export const TRUST_DOMAIN = 'spiffe://example.org';
/** The account of the workload in the cluster, and its SPIFFE ID. */
export const ACCOUNT = 'system:serviceaccount:prod:reports';
export const SPIFFE_ID = 'spiffe://example.org/ns/prod/sa/reports';
export const JWT_SVID_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe';

type Members = Readonly<Record<string, unknown>>;

/** Who signs the tokens of workloads. */
export interface Platform {
  readonly key: ClientKey;
  /** The file with its key set. */
  readonly file: string;
  /** Its settings in `trusted_issuers`. */
  readonly settings: Members;
  /** Replaces its key set. `use` is the use of each key. */
  publish(keys: readonly ClientKey[], use?: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a platform whose keys are in a file. With `use`, its keys have this use. */
export async function startPlatform(use?: string): Promise<Platform> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-platform-'));
  const file = path.join(folder, 'keys.json');
  const key = newKey('ES256');
  const publish = (keys: readonly ClientKey[], as = use) => {
    const jwks = keys.map(({ jwk }) => ({ ...jwk, ...(as === undefined ? {} : { use: as }) }));
    return writeFile(file, JSON.stringify({ keys: jwks, spiffe_sequence: 1 }));
  };
  await publish([key]);
  return {
    key,
    file,
    settings: {
      jwks_file: file,
      algorithms: ['ES256', 'RS256'],
      asserts: ['clients'],
      maximum_age: 3600,
    },
    publish,
    close: () => rm(folder, { recursive: true }),
  };
}

/** The configuration that accepts these platforms. */
export const accepting = (issuers: Members, more: Members = {}) => ({
  oauth_server: { workload_identity: true, trusted_issuers: issuers, ...more },
});

/** The claims that Kubernetes puts into a projected token; `now` is in milliseconds. */
export function accountClaims(portal: RunningPortal, now = Date.now()): Members {
  const seconds = Math.floor(now / 1000);
  return {
    aud: [portal.server.issuer],
    exp: seconds + 3600,
    iat: seconds,
    iss: CLUSTER,
    jti: randomUUID(),
    'kubernetes.io': {
      namespace: 'prod',
      pod: { name: 'reports-7d4b9', uid: randomUUID() },
      serviceaccount: { name: 'reports', uid: randomUUID() },
    },
    nbf: seconds,
    sub: ACCOUNT,
  };
}

/**
 * Returns a signed token as Kubernetes creates it, with these changed claims. Undefined removes a
 * claim.
 */
export function accountToken(
  portal: RunningPortal,
  key: ClientKey,
  changes: Members = {},
  header: Members = {},
): string {
  const plain = { alg: key.algorithm, kid: key.kid };
  return signed(key, { ...plain, ...header }, { ...accountClaims(portal), ...changes });
}

/** Returns a signed JWT-SVID with these changed claims. */
export function jwtSvid(portal: RunningPortal, key: ClientKey, changes: Members = {}): string {
  const seconds = Math.floor(Date.now() / 1000);
  return signed(
    key,
    { alg: key.algorithm, kid: key.kid, typ: 'JWT' },
    {
      aud: [portal.server.issuer],
      exp: seconds + 300,
      iat: seconds,
      sub: SPIFFE_ID,
      ...changes,
    },
  );
}

/** Registers a client that is this workload. Returns its id. */
export async function registerWorkload(
  portal: RunningPortal,
  workload = { issuer: CLUSTER, subject: ACCOUNT },
  more: object = {},
): Promise<string> {
  const { client, secret } = await portal.server.clients.create({
    name: 'Reports',
    scopes: ['notes:read'],
    grants: ['client_credentials', 'introspection'],
    workload,
    ...more,
  });
  if (secret !== null) throw new Error('A workload has no secret');
  return client.id;
}

/** Asks for a token with this workload's token. */
export function present(
  portal: RunningPortal,
  clientId: string | null,
  token: string,
  form: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return requestToken(portal, null, {
    grant_type: 'client_credentials',
    ...(clientId === null ? {} : { client_id: clientId }),
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: token,
    ...form,
  });
}
