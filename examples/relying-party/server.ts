import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as client from 'openid-client';
import { createMemory, type Visit } from './memory.ts';
import { resultPage, signedInPage, startPage } from './pages.ts';

export interface RelyingPartyOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** The address of this application, as its visitors see it. */
  readonly publicUrl: string;
  /** Whose people sign in here. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** An application that people sign in to with their account at the portal. It uses nothing of Portico. */
export interface RelyingParty {
  readonly port: number;
  close(): Promise<void>;
}

const COOKIE = 'relying_party';
const SCOPE = 'openid profile email notes:read notes:write';

export async function startRelyingParty(options: RelyingPartyOptions): Promise<RelyingParty> {
  const { issuer, clientId, clientSecret, publicUrl } = options;
  const redirectUri = `${publicUrl}/callback`;
  const visits = createMemory();
  const app = new Hono();

  // Asked for when the first person signs in: the portal may start later than this application.
  let discovered: Promise<client.Configuration> | null = null;
  const provider = () =>
    (discovered ??= discover(issuer, clientId, clientSecret).catch((error: unknown) => {
      discovered = null;
      throw error;
    }));

  app.get('/', async (context) => {
    const visit = visitOf(context);
    if (visit?.tokens === undefined) return context.html(startPage(issuer));
    return context.html(signedInPage(await look(visit.tokens, visit.notice)));
  });

  app.post('/sign-in', async (context) => {
    const codeVerifier = client.randomPKCECodeVerifier();
    const pending = { codeVerifier, state: client.randomState(), nonce: client.randomNonce() };
    remember(context, { pending });
    const url = client.buildAuthorizationUrl(await provider(), {
      redirect_uri: redirectUri,
      scope: SCOPE,
      code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
    });
    return context.redirect(url.href, 303);
  });

  app.get('/callback', async (context) => {
    const pending = visitOf(context)?.pending;
    if (pending === undefined)
      return context.html(resultPage('This sign-in was not started here', START_AGAIN), 400);
    try {
      const callback = new URL(`${publicUrl}/callback${new URL(context.req.url).search}`);
      // Checks state, iss, nonce, the ID token's signature and claims, and sends the PKCE verifier.
      const tokens = await client.authorizationCodeGrant(await provider(), callback, {
        pkceCodeVerifier: pending.codeVerifier,
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      });
      remember(context, { tokens });
      return context.redirect('/', 303);
    } catch (error) {
      remember(context, {});
      if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied') {
        return context.html(
          resultPage('You did not allow it', 'Nothing was shared. You can sign in another time.'),
        );
      }
      return context.html(resultPage('The sign-in did not succeed', describe(error)), 400);
    }
  });

  app.post('/refresh', async (context) => {
    const tokens = visitOf(context)?.tokens;
    if (tokens?.refresh_token === undefined) return context.redirect('/', 303);
    try {
      const refreshed = await client.refreshTokenGrant(await provider(), tokens.refresh_token);
      remember(context, {
        tokens: { ...tokens, ...refreshed, claims: () => refreshed.claims() ?? tokens.claims() },
        notice: 'Refreshed: a new access token, and a new refresh token in place of the one that was used.',
      });
      return context.redirect('/', 303);
    } catch (error) {
      remember(context, {});
      return context.html(resultPage('The access has ended', describe(error)), 400);
    }
  });

  app.post('/notes', async (context) => {
    const visit = visitOf(context);
    if (visit?.tokens === undefined) return context.redirect('/', 303);
    const { text } = await context.req.parseBody();
    const answer = await fetch(`${issuer}/api/notes`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${visit.tokens.access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ text: typeof text === 'string' ? text : '' }),
    });
    const notice = answer.ok ? 'The portal took the note.' : `The portal refused the note: ${answer.status}.`;
    remember(context, { tokens: visit.tokens, notice });
    return context.redirect('/', 303);
  });

  app.post('/sign-out', (context) => {
    visits.forget(getCookie(context, COOKIE));
    deleteCookie(context, COOKIE, { path: '/' });
    return context.redirect('/', 303);
  });

  app.onError((error, context) =>
    context.html(resultPage('The portal did not answer as expected', describe(error)), 502),
  );

  function visitOf(context: Context): Visit | undefined {
    return visits.recall(getCookie(context, COOKIE));
  }

  /** Every step starts a new visit, so that an id that was planted in a browser leads to nothing. */
  function remember(context: Context, visit: Visit): void {
    visits.forget(getCookie(context, COOKIE));
    const options = {
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      secure: publicUrl.startsWith('https:'),
    } as const;
    setCookie(context, COOKIE, visits.keep(visit), options);
  }

  /** What the person's tokens say and reach. */
  async function look(tokens: NonNullable<Visit['tokens']>, notice: string | undefined) {
    const headers = { Authorization: `Bearer ${tokens.access_token}` };
    const [userinfo, notes] = await Promise.all([
      fetch(`${issuer}/oauth/userinfo`, { headers }),
      fetch(`${issuer}/api/notes`, { headers }),
    ]);
    return {
      notice: notice ?? null,
      claims: tokens.claims() ?? {},
      scope: tokens.scope ?? '',
      userinfo: { status: userinfo.status, body: await userinfo.text() },
      notes: { status: notes.status, body: await notes.text() },
    };
  }

  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await listening(server, options.port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const START_AGAIN = 'Go back to the start and sign in from there.';

function discover(issuer: string, clientId: string, clientSecret: string): Promise<client.Configuration> {
  // Plain http is for an issuer on this machine only; openid-client refuses it otherwise.
  const execute = issuer.startsWith('http:') ? { execute: [client.allowInsecureRequests] } : {};
  return client.discovery(
    new URL(issuer),
    clientId,
    undefined,
    client.ClientSecretBasic(clientSecret),
    execute,
  );
}

function describe(error: unknown): string {
  if (error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError) {
    return `The portal said ${error.error}: ${error.error_description ?? 'nothing more'}`;
  }
  return error instanceof Error ? error.message : 'Something went wrong.';
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
}
