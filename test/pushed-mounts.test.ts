// @engines sqlite: the store is the same in every mount
import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { MOUNTS } from './support/mounts.ts';
import { ADA, PASSWORD, REDIRECT_URI, registerClient, startPortal } from './support/portal.ts';
import { createVisitor, locationOf } from './support/visitor.ts';
import { waysOf } from './support/scale.ts';

const REQUIRE = { pushed_authorization_requests: 'require' } as const;
const OF_PORTAL = { redirectUris: [REDIRECT_URI], scopes: ['openid'] };

// @shows AS-25.1, AS-25.5
test.each([
  [
    'the kit, below a base path',
    async () => {
      const portal = await startPortal({ config: { base_path: '/auth', oauth_server: REQUIRE } });
      return {
        issuer: portal.server.issuer,
        origin: portal.url,
        field: 'identifier',
        client: await registerClient(portal, OF_PORTAL),
        close: () => portal.close(),
      };
    },
  ] as const,
  ...waysOf(MOUNTS).map(
    (mount) =>
      [
        mount.name,
        async () => {
          const running = await mount.start({ oauth_server: REQUIRE });
          return {
            issuer: running.url,
            origin: running.url,
            field: 'email',
            client: await running.register({ name: 'An application', ...OF_PORTAL }),
            close: () => running.close(),
          };
        },
      ] as const,
  ),
])('%s accepts pushed requests, and a person signs in with one', async (_, start) => {
  const { issuer, origin, field, client, close } = await start();
  try {
    const config = await openid.discovery(
      new URL(issuer),
      client.id,
      undefined,
      openid.ClientSecretBasic(client.secret),
      { execute: [openid.allowInsecureRequests] },
    );
    const metadata = config.serverMetadata();
    expect(metadata.pushed_authorization_request_endpoint).toBe(`${issuer}/oauth/par`);
    expect(metadata.require_pushed_authorization_requests).toBe(true);
    expect((await fetch(`${issuer}/oauth/par`, { method: 'OPTIONS' })).status).toBe(204);
    expect((await fetch(`${issuer}/oauth/par`)).status).toBe(405);
    const verifier = openid.randomPKCECodeVerifier();
    const url = await openid.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const visitor = createVisitor(origin);
    const login = await visitor.visit(url.href);
    expect(login.url).toMatch(/\/login\b/);
    const back = await visitor.submit(login, { [field]: ADA, password: PASSWORD });
    const page = await visitor.visit(locationOf(back).href);
    expect(page.status).toBe(200);
    const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
    const tokens = await openid.authorizationCodeGrant(config, answer, {
      pkceCodeVerifier: verifier,
    });
    expect(tokens.scope).toBe('openid');
    expect((await visitor.visit(url.href)).status).toBe(400);
  } finally {
    await close();
  }
});
