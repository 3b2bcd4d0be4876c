import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import type { AuthorizationServer } from 'portico';
import { REDIRECT_URI } from './portal.ts';
import { locationOf, type Visitor } from './visitor.ts';

/** A running application. Its endpoints are below a base path. */
export interface Installation {
  readonly server: AuthorizationServer;
  /** The application's own port, behind the proxy. */
  readonly port: number;
  /** Fills in the application's sign-in page. */
  signIn(visitor: Visitor, page: Response): Promise<Response>;
  close(): Promise<void>;
}

export const INSECURE = { [oauth.allowInsecureRequests]: true };

/** A client of an installation. It can be used with both libraries. */
export interface Registered {
  readonly id: string;
  readonly secret: string;
}

export async function register(
  server: AuthorizationServer,
  scopes: readonly string[],
  redirectUri = REDIRECT_URI,
): Promise<Registered> {
  const { client, secret } = await server.clients.create({
    name: 'Shop assistant',
    redirectUris: [redirectUri],
    scopes: ['openid', 'profile', ...scopes],
    grants: ['authorization_code', 'refresh_token', 'introspection'],
  });
  return { id: client.id, secret: secret ?? '' };
}

/**
 * Discovers the server as openid-client does. It appends the well-known part to the issuer (OpenID
 * Connect Discovery 1.0 section 4).
 */
export function discover(
  { issuer }: AuthorizationServer,
  { id, secret }: Registered,
): Promise<openid.Configuration> {
  return openid.discovery(new URL(issuer), id, undefined, openid.ClientSecretBasic(secret), {
    execute: [openid.allowInsecureRequests],
  });
}

export interface Asked {
  readonly callback: URL;
  readonly checks: openid.AuthorizationCodeGrantChecks;
}

/** The server, and the client that sends requests. */
export interface Here {
  readonly installation: Installation;
  readonly config: openid.Configuration;
  readonly scope: string;
}

/** Signs in if needed, and allows the request. `consent` is the page that asked. */
export async function authorize(
  {
    installation,
    config,
    scope,
  }: { installation: Installation; config: openid.Configuration; scope: string },
  visitor: Visitor,
): Promise<Asked & { readonly consent: string }> {
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: `openid profile ${scope}`,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  });
  let page = await visitor.visit(url.href);
  if (new URL(page.url).pathname.endsWith('/login')) {
    page = await visitor.visit(locationOf(await installation.signIn(visitor, page)).href);
  }
  const consent = await page.clone().text();
  const callback = locationOf(await visitor.submit(page, { decision: 'allow' }));
  return {
    consent,
    callback,
    checks: { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true },
  };
}
