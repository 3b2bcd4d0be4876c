import * as client from 'openid-client';
import { step, type Step } from './steps.ts';

export interface PortalOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
}

/** What the application must remember while the person is at the portal. */
export interface PendingSignIn {
  readonly codeVerifier: string;
  readonly state: string;
  readonly nonce: string;
  /** The steps of the sign-in so far. */
  readonly steps: readonly Step[];
}

/** The result of a sign-in. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly scope: string;
  /** The claims of the ID token, after it was checked. */
  readonly claims: client.IDToken;
  /** When the tokens arrived, in milliseconds since 1970. */
  readonly issuedAt: number;
  /**
   * How long the access token is valid after `issuedAt`, in seconds. Null if the portal did not
   * report it.
   */
  readonly expiresIn: number | null;
  /** All steps that led to these tokens, from the first click. */
  readonly steps: readonly Step[];
}

/** A response from the portal. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

const SCOPE = 'openid profile email notes:read notes:write';

/**
 * Creates the client of the portal. This application sends all of its requests to the portal
 * through this client.
 */
export function createPortal({ issuer, clientId, clientSecret, redirectUri, now }: PortalOptions) {
  let discovered: Promise<client.Configuration> | null = null;
  /**
   * Loads the portal's metadata on first use, because the portal may start later than this
   * application.
   */
  function configuration(): Promise<client.Configuration> {
    discovered ??= discover(issuer, clientId, clientSecret).catch((error: unknown) => {
      discovered = null;
      throw error;
    });
    return discovered;
  }

  function askNotes(accessToken: string, init: RequestInit): Promise<Answer> {
    const headers = { Authorization: `Bearer ${accessToken}`, 'Content-Type': 'application/json' };
    return fetch(`${issuer}/api/notes`, { ...init, headers }).then(answerOf);
  }

  return {
    /**
     * Returns the address where the person signs in, and what to remember until the person returns.
     */
    async startSignIn(): Promise<{ url: string; pending: PendingSignIn }> {
      const codeVerifier = client.randomPKCECodeVerifier();
      const state = client.randomState();
      const nonce = client.randomNonce();
      const url = client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: SCOPE,
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      });
      return { url: url.href, pending: { codeVerifier, state, nonce, steps: departure(url) } };
    },

    /**
     * Checks `state`, `iss`, `nonce` and the ID token, and exchanges the code. The exchange
     * includes the PKCE verifier.
     */
    async finishSignIn(query: string, pending: PendingSignIn): Promise<Tokens> {
      const granted = await client.authorizationCodeGrant(
        await configuration(),
        new URL(redirectUri + query),
        {
          pkceCodeVerifier: pending.codeVerifier,
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          idTokenExpected: true,
        },
      );
      const claims = granted.claims();
      if (claims === undefined) throw new Error('The portal sent no ID token.');
      const callback = new URLSearchParams(query);
      const request = {
        grant_type: 'authorization_code',
        code: callback.get('code') ?? undefined,
        redirect_uri: redirectUri,
        code_verifier: pending.codeVerifier,
      };
      return {
        accessToken: granted.access_token,
        refreshToken: granted.refresh_token ?? null,
        scope: granted.scope ?? SCOPE,
        claims,
        issuedAt: now(),
        expiresIn: granted.expires_in ?? null,
        steps: [
          ...pending.steps,
          ...arrival(callback),
          step('notebook', 'portal', 'POST /oauth/token', EXCHANGE, request),
          answered(granted),
        ],
      };
    },

    /** Returns new tokens for the refresh token. The refresh token cannot be used again. */
    async refresh(tokens: Tokens): Promise<Tokens> {
      if (tokens.refreshToken === null) throw new Error('The portal gave no refresh token.');
      const granted = await client.refreshTokenGrant(await configuration(), tokens.refreshToken);
      return {
        accessToken: granted.access_token,
        refreshToken: granted.refresh_token ?? tokens.refreshToken,
        scope: granted.scope ?? tokens.scope,
        claims: granted.claims() ?? tokens.claims,
        issuedAt: now(),
        expiresIn: granted.expires_in ?? null,
        steps: [
          step('notebook', 'portal', 'POST /oauth/token', REFRESH, {
            grant_type: 'refresh_token',
            refresh_token: tokens.refreshToken,
          }),
          answered(granted),
        ],
      };
    },

    /**
     * Returns the response from UserInfo. Throws if UserInfo and the ID token are about different
     * people.
     */
    async userInfo({ accessToken, claims }: Tokens): Promise<Answer> {
      try {
        const told = await client.fetchUserInfo(await configuration(), accessToken, claims.sub);
        return { status: 200, body: JSON.stringify(told) };
      } catch (error) {
        if (error instanceof client.WWWAuthenticateChallengeError) return answerOf(error.response);
        throw error;
      }
    },

    readNotes: ({ accessToken }: Tokens) => askNotes(accessToken, { method: 'GET' }),
    writeNote: ({ accessToken }: Tokens, text: string) =>
      askNotes(accessToken, { method: 'POST', body: JSON.stringify({ text }) }),
  };
}

// --- what happened, for the page that shows it
// ------------------------------------------------------------------

const EXCHANGE =
  'Notebook calls the portal itself, with its own secret. The verifier proves that the same application started and completes this sign-in (PKCE).';
const REFRESH =
  'Notebook uses its refresh token, which works only once. The portal did not ask you again, because you allowed this before.';

function departure(url: URL): readonly Step[] {
  return [
    step('browser', 'notebook', 'POST /sign-in', 'You pressed the button.'),
    step(
      'browser',
      'portal',
      `GET ${url.pathname}`,
      'Notebook sent your browser to the portal with this request.',
      url.searchParams,
    ),
  ];
}

function arrival(callback: URLSearchParams): readonly Step[] {
  return [
    step(
      'portal',
      'portal',
      'You sign in and allow it',
      'This happens only between you and the portal. Notebook never sees your password.',
    ),
    step(
      'browser',
      'notebook',
      'GET /callback',
      'The portal sent you back with a code. Only Notebook can use it, only once, and within a minute.',
      callback,
    ),
  ];
}

function answered(granted: client.TokenEndpointResponse): Step {
  const { access_token, refresh_token, id_token, token_type, expires_in, scope } = granted;
  const sent = { access_token, token_type, expires_in, refresh_token, id_token, scope };
  return step('portal', 'notebook', '200: the tokens', 'Your browser never sees them.', sent);
}

/** Returns whether the person refused the sign-in. */
export function isDenied(error: unknown): boolean {
  return error instanceof client.AuthorizationResponseError && error.error === 'access_denied';
}

/**
 * Returns whether the code or the refresh token is no longer valid. Returns false if the portal
 * only does not answer at the moment.
 */
export function isOver(error: unknown): boolean {
  return error instanceof client.ResponseBodyError && error.error === 'invalid_grant';
}

/** Describes a failure for the person who sees it. */
export function describe(error: unknown): string {
  if (
    error instanceof client.ResponseBodyError ||
    error instanceof client.AuthorizationResponseError
  ) {
    return `The portal said ${error.error}: ${error.error_description ?? 'no description'}`;
  }
  return error instanceof Error ? error.message : 'Something went wrong.';
}

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

function discover(
  issuer: string,
  clientId: string,
  clientSecret: string,
): Promise<client.Configuration> {
  const url = new URL(issuer);
  // Allow plain http only for a portal on this machine. openid-client rejects it by default.
  const execute = LOOPBACK_HOSTS.has(url.hostname)
    ? { execute: [client.allowInsecureRequests] }
    : {};
  return client.discovery(
    url,
    clientId,
    undefined,
    client.ClientSecretBasic(clientSecret),
    execute,
  );
}

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, body: await response.text() };
}
