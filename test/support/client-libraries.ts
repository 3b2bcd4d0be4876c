import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { INSECURE } from './installation.ts';
import { REDIRECT_URI } from './portal.ts';

/** Two client libraries behind one interface. Each is used as its own documentation describes. */

export type Method = 'private_key_jwt' | 'client_secret_basic' | 'client_secret_post' | 'none';

/** The client that sends the requests. */
export interface Identity {
  readonly id: string;
  readonly method: Method;
  readonly secret: string;
  /** The key that signs the client's assertions. */
  readonly key: CryptoKey;
  readonly kid: string;
  /** The key for proofs of possession, or null. */
  readonly possesses: CryptoKeyPair | null;
}

export interface Received {
  readonly access_token: string;
  readonly refresh_token?: string | undefined;
  readonly token_type: string;
  readonly scope?: string | undefined;
  readonly sub: string;
}

/** A client that has discovered its server. */
export interface ForeignClient {
  /** Returns the URL to which the client sends the browser. */
  authorize(scope: string, pushed: boolean, mode?: 'form_post'): Promise<URL>;
  /**
   * Exchanges the code for tokens. `callback` is the URL at which the browser returns, or the form
   * that it posts.
   */
  redeem(callback: URL | Request): Promise<Received>;
  refresh(refreshToken: string): Promise<Omit<Received, 'sub'>>;
  userInfo(accessToken: string, sub: string): Promise<Readonly<Record<string, unknown>>>;
  fetch(accessToken: string, url: URL): Promise<Response>;
  introspect(token: string): Promise<Readonly<Record<string, unknown>>>;
  revoke(token: string): Promise<void>;
}

export interface Library {
  readonly name: string;
  discover(issuer: string, identity: Identity): Promise<ForeignClient>;
}

const openidClient: Library = {
  name: 'openid-client',
  async discover(issuer, { id, method, secret, key, kid, possesses }) {
    const authentication = {
      private_key_jwt: () => openid.PrivateKeyJwt({ key, kid }),
      client_secret_basic: () => openid.ClientSecretBasic(secret),
      client_secret_post: () => openid.ClientSecretPost(secret),
      none: () => openid.None(),
    }[method]();
    const config = await openid.discovery(new URL(issuer), id, undefined, authentication, {
      execute: [openid.allowInsecureRequests],
    });
    const options = possesses === null ? {} : { DPoP: openid.getDPoPHandle(config, possesses) };
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    return {
      async authorize(scope, pushed, mode) {
        const parameters = {
          redirect_uri: REDIRECT_URI,
          scope,
          state: expectedState,
          nonce: expectedNonce,
          code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
          code_challenge_method: 'S256',
          ...(mode === undefined ? {} : { response_mode: mode }),
        };
        return pushed
          ? openid.buildAuthorizationUrlWithPAR(config, parameters, options)
          : openid.buildAuthorizationUrl(config, parameters);
      },
      async redeem(callback) {
        const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
        const tokens = await openid.authorizationCodeGrant(
          config,
          callback,
          checks,
          undefined,
          options,
        );
        return { ...tokens, sub: tokens.claims()?.sub ?? '' };
      },
      refresh: (refreshToken) => openid.refreshTokenGrant(config, refreshToken, undefined, options),
      userInfo: (accessToken, sub) => openid.fetchUserInfo(config, accessToken, sub, options),
      fetch: (accessToken, url) =>
        openid.fetchProtectedResource(
          config,
          accessToken,
          url,
          'GET',
          undefined,
          undefined,
          options,
        ),
      introspect: (token) => openid.tokenIntrospection(config, token),
      revoke: (token) => openid.tokenRevocation(config, token),
    };
  },
};

const oauth4webapi: Library = {
  name: 'oauth4webapi',
  async discover(issuer, { id, method, secret, key, kid, possesses }) {
    const url = new URL(issuer);
    const server = await oauth
      .discoveryRequest(url, INSECURE)
      .then((response) => oauth.processDiscoveryResponse(url, response));
    const client = { client_id: id };
    const authentication = {
      private_key_jwt: () => oauth.PrivateKeyJwt({ key, kid }),
      client_secret_basic: () => oauth.ClientSecretBasic(secret),
      client_secret_post: () => oauth.ClientSecretPost(secret),
      none: () => oauth.None(),
    }[method]();
    const options = {
      ...INSECURE,
      ...(possesses === null ? {} : { DPoP: oauth.DPoP({}, possesses) }),
    };
    const verifier = oauth.generateRandomCodeVerifier();
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];

    /** If the library reports that it needs another nonce, the caller must try again. */
    async function withNonce<T>(ask: () => Promise<T>): Promise<T> {
      try {
        return await ask();
      } catch (error) {
        if (!oauth.isDPoPNonceError(error)) throw error;
        return ask();
      }
    }

    return {
      async authorize(scope, pushed, mode) {
        const parameters = {
          client_id: id,
          redirect_uri: REDIRECT_URI,
          response_type: 'code',
          scope,
          state,
          nonce,
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(mode === undefined ? {} : { response_mode: mode }),
        };
        const target = new URL(server.authorization_endpoint ?? '');
        if (!pushed) {
          for (const [name, value] of Object.entries(parameters))
            target.searchParams.set(name, value);
          return target;
        }
        const { request_uri } = await withNonce(async () =>
          oauth.processPushedAuthorizationResponse(
            server,
            client,
            await oauth.pushedAuthorizationRequest(
              server,
              client,
              authentication,
              parameters,
              options,
            ),
          ),
        );
        target.searchParams.set('client_id', id);
        target.searchParams.set('request_uri', request_uri);
        return target;
      },
      async redeem(callback) {
        const received =
          callback instanceof Request ? new URLSearchParams(await callback.text()) : callback;
        const answer = oauth.validateAuthResponse(server, client, received, state);
        const tokens = await withNonce(async () =>
          oauth.processAuthorizationCodeResponse(
            server,
            client,
            await oauth.authorizationCodeGrantRequest(
              server,
              client,
              authentication,
              answer,
              REDIRECT_URI,
              verifier,
              options,
            ),
            { expectedNonce: nonce, requireIdToken: true },
          ),
        );
        return { ...tokens, sub: oauth.getValidatedIdTokenClaims(tokens)?.sub ?? '' };
      },
      refresh: (refreshToken) =>
        withNonce(async () =>
          oauth.processRefreshTokenResponse(
            server,
            client,
            await oauth.refreshTokenGrantRequest(
              server,
              client,
              authentication,
              refreshToken,
              options,
            ),
          ),
        ),
      userInfo: (accessToken, sub) =>
        withNonce(async () =>
          oauth.processUserInfoResponse(
            server,
            client,
            sub,
            await oauth.userInfoRequest(server, client, accessToken, options),
          ),
        ),
      fetch: (accessToken, at) =>
        withNonce(() =>
          oauth.protectedResourceRequest(accessToken, 'GET', at, undefined, undefined, options),
        ),
      introspect: async (token) =>
        oauth.processIntrospectionResponse(
          server,
          client,
          await oauth.introspectionRequest(server, client, authentication, token, INSECURE),
        ),
      revoke: async (token) =>
        oauth.processRevocationResponse(
          await oauth.revocationRequest(server, client, authentication, token, INSECURE),
        ),
    };
  },
};

export const LIBRARIES: readonly Library[] = [openidClient, oauth4webapi];
