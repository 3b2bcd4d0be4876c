import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AuthorizationServer } from 'portico';
import { newKey, signed, type ClientKey } from './assertions.ts';
import {
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './portal.ts';

/** The identity provider of an organization. It creates assertions about people (ID-JAG). */

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const IDP = 'https://idp.example';
/** The person's identifier at the identity provider. */
export const SUBJECT = 'U019488227';

type Members = Readonly<Record<string, unknown>>;

export interface IdentityProvider {
  readonly key: ClientKey;
  /** The file that contains its key set. */
  readonly file: string;
  /** The configuration with which the server trusts this identity provider. */
  readonly config: { readonly oauth_server: Members };
  /** Replaces the key set. */
  publish(...keys: readonly ClientKey[]): Promise<void>;
  close(): Promise<void>;
}

export async function startIdentityProvider(more: Members = {}): Promise<IdentityProvider> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-idp-'));
  const file = path.join(folder, 'keys.json');
  const key = newKey('ES256');
  const publish = (...keys: readonly ClientKey[]) =>
    writeFile(file, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  await publish(key);
  const settings = { jwks_file: file, algorithms: ['ES256'], asserts: ['people'] };
  return {
    key,
    file,
    config: {
      oauth_server: { jwt_bearer_grant: true, trusted_issuers: { [IDP]: settings }, ...more },
    },
    publish,
    close: () => rm(folder, { recursive: true }),
  };
}

/** A portal that trusts an identity provider, and a client that may present its assertions. */
export interface Organization {
  readonly idp: IdentityProvider;
  readonly portal: RunningPortal;
  readonly assistant: TestClient;
  close(): Promise<void>;
}

/**
 * Starts the portal and the identity provider. `settings` replace those of `oauth_server` for the
 * provider.
 */
export async function startOrganization(
  settings: (idp: IdentityProvider) => Members = () => ({}),
): Promise<Organization> {
  const idp = await startIdentityProvider();
  const config = { oauth_server: { ...idp.config.oauth_server, ...settings(idp) } };
  const portal = await startPortal({ config });
  return {
    idp,
    portal,
    assistant: await registerAssistant(portal),
    async close() {
      await portal.close();
      await idp.close();
    },
  };
}

/** The header of an assertion that this key signs. */
export const jagHeader = (key: ClientKey): Members => ({
  typ: 'oauth-id-jag+jwt',
  alg: key.algorithm,
  kid: key.kid,
});

/** The claims of a valid assertion; `now` is in milliseconds. */
export function jagClaims(
  portal: { readonly server: { readonly issuer: string } },
  client: TestClient,
  now = Date.now(),
): Members {
  const seconds = Math.floor(now / 1000);
  return {
    iss: IDP,
    sub: SUBJECT,
    aud: portal.server.issuer,
    client_id: client.id,
    scope: 'notes:read',
    jti: randomUUID(),
    iat: seconds,
    exp: seconds + 240,
  };
}

/** Returns a signed assertion. `changes` replace claims, and undefined removes a claim. */
export function assertionFor(
  portal: RunningPortal,
  client: TestClient,
  key: ClientKey,
  changes: Members = {},
  now = Date.now(),
): string {
  return signed(key, jagHeader(key), { ...jagClaims(portal, client, now), ...changes });
}

/** Sends an assertion to the token endpoint. */
export function present(
  portal: RunningPortal,
  client: TestClient | null,
  assertion: string,
  form: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return requestToken(portal, client, { grant_type: JWT_BEARER, assertion, ...form });
}

/** Registers a client that may present assertions. */
export function registerAssistant(portal: RunningPortal, more: object = {}): Promise<TestClient> {
  return registerClient(portal, {
    name: 'Assistant',
    redirectUris: [],
    scopes: ['openid', 'notes:read', 'notes:write'],
    grants: [JWT_BEARER, 'refresh_token'],
    ...more,
  });
}

/** Returns this person's account in the host. */
export async function accountOf(
  portal: { readonly server: AuthorizationServer },
  email: string,
): Promise<{ readonly provider: string; readonly id: string }> {
  const [found] = (await portal.server.host.findPeople?.(email, 1)) ?? [];
  if (found === undefined) throw new Error(`No account ${email}`);
  return found.reference;
}

/** Links the subject to this person. */
export async function link(
  portal: { readonly server: AuthorizationServer },
  email: string,
  subject: string = SUBJECT,
  issuer: string = IDP,
): Promise<void> {
  const person = await accountOf(portal, email);
  await portal.server.organizationAccess?.link({ issuer, subject }, person);
}
