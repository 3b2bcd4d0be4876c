import { createHmac, createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ASSERTION_TYPE,
  claimsOf,
  headerOf,
  newKey,
  signatureOf,
  signed,
  withAssertion,
  type Algorithm,
  type ClientKey,
} from './support/assertions.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  errorOf,
  obtainCode,
  REDIRECT_URI,
  registerClient,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';
import { INSECURE } from './support/installation.ts';

/**
 * Clients that authenticate with assertions that they sign (RFC 7523, OpenID Connect Core section
 * 9).
 */

const ON = { oauth_server: { private_key_jwt: true } };
const clock = createClock();
let portal: RunningPortal;

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now, random: () => 0.999, config: ON });
});
afterAll(() => portal.close());

/** A service with this key; returns its id. */
async function serviceWith(...keys: readonly ClientKey[]): Promise<string> {
  const { client } = await portal.server.clients.create({
    name: 'A service',
    scopes: ['notes:read'],
    grants: ['client_credentials', 'introspection'],
    jwks: { keys: keys.map(({ jwk }) => jwk) },
  });
  return client.id;
}

const claims = (id: string, changes: Readonly<Record<string, unknown>> = {}) => ({
  ...claimsOf(id, portal.server.issuer, clock.now()),
  ...changes,
});
const assertionOf = (id: string, key: ClientKey, changes: Readonly<Record<string, unknown>> = {}) =>
  signed(key, headerOf(key), claims(id, changes));

const ask = (assertion: string, changes: Readonly<Record<string, string>> = {}, at = portal) =>
  requestToken(at, null, {
    grant_type: 'client_credentials',
    ...withAssertion(assertion),
    ...changes,
  });

async function expectRefused(response: Response, error = 'invalid_client'): Promise<void> {
  expect(await errorOf(response)).toBe(error);
  expect(response.status).toBe(error === 'invalid_client' ? 401 : 400);
  expect(response.headers.get('cache-control')).toBe('no-store');
}

const ALGORITHMS: readonly Algorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

describe('private_key_jwt', () => {
  // @shows AS-23.1, AS-2.24, RFC7523-5
  test('is in the metadata of each endpoint, with its algorithms', async () => {
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const response = await fetch(`${portal.url}/.well-known/${name}`);
      const metadata = (await response.json()) as Readonly<Record<string, readonly string[]>>;
      for (const endpoint of ['token', 'revocation', 'introspection']) {
        expect(metadata[`${endpoint}_endpoint_auth_methods_supported`]).toContain(
          'private_key_jwt',
        );
        expect(metadata[`${endpoint}_endpoint_auth_signing_alg_values_supported`]).toEqual(
          ALGORITHMS,
        );
      }
      expect(metadata['introspection_endpoint_auth_methods_supported']).not.toContain('none');
    }
  });

  // @shows AS-23.2, AS-23.5, RFC7523-2.2, RFC9700-2.5b
  test.each(ALGORITHMS)(
    '%s: openid-client obtains, introspects and revokes a token',
    async (algorithm) => {
      const key = newKey(algorithm);
      const id = await serviceWith(newKey(algorithm, key.kid));
      const withKey = await serviceWith(newKey('ES256'), key);
      const config = await openid.discovery(
        new URL(portal.server.issuer),
        withKey,
        undefined,
        openid.PrivateKeyJwt({ key: await importKey(key), kid: key.kid }, atClock),
        { execute: [openid.allowInsecureRequests] },
      );
      const { access_token: token } = await openid.clientCredentialsGrant(config, {
        scope: 'notes:read',
      });
      expect(await openid.tokenIntrospection(config, token)).toMatchObject({
        active: true,
        client_id: withKey,
      });
      await openid.tokenRevocation(config, token);
      expect(await openid.tokenIntrospection(config, token)).toEqual({ active: false });
      // The key of another client does not work for this one.
      await expectRefused(await ask(assertionOf(id, key)));
    },
  );

  // @shows AS-23.2
  test('oauth4webapi signs a person in, and refreshes', async () => {
    const key = newKey('ES256');
    const { client } = await portal.server.clients.create({
      name: 'An application with keys',
      redirectUris: [REDIRECT_URI],
      scopes: ['openid', 'notes:read'],
      jwks: { keys: [key.jwk] },
    });
    const as = await oauth
      .discoveryRequest(new URL(portal.server.issuer), INSECURE)
      .then((response) => oauth.processDiscoveryResponse(new URL(portal.server.issuer), response));
    const authentication = oauth.PrivateKeyJwt(
      { key: await importKey(key), kid: key.kid },
      atClock,
    );
    const code = await obtainCode(
      portal,
      { id: client.id, secret: '' },
      await portal.signedIn(ADA),
      {
        scope: 'openid notes:read',
      },
    );
    const tokens = await oauth
      .genericTokenEndpointRequest(
        as,
        { client_id: client.id },
        authentication,
        'authorization_code',
        { code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER },
        INSECURE,
      )
      .then((response) => response.json() as Promise<Tokens>);
    const refreshed = await oauth.refreshTokenGrantRequest(
      as,
      { client_id: client.id },
      authentication,
      tokens.refresh_token,
      INSECURE,
    );
    expect(refreshed.status).toBe(200);
    // Neither the id alone nor a secret works.
    const { refresh_token } = (await refreshed.json()) as Tokens;
    const refreshing = { grant_type: 'refresh_token', refresh_token };
    await expectRefused(await requestToken(portal, null, { client_id: client.id, ...refreshing }));
    await expectRefused(await requestToken(portal, { id: client.id, secret: 'a' }, refreshing));
    expect((await ask(assertionOf(client.id, key), refreshing)).status).toBe(200);
  });

  // @shows AS-23.3, RFC7523-3b
  test('accepts the issuer or token endpoint as audience; with its specific typ, only the issuer', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    const { issuer } = portal.server;
    const token = `${issuer}/oauth/token`;
    for (const aud of [issuer, token, [issuer], [token], [token, issuer]]) {
      expect((await ask(assertionOf(id, key, { aud }))).status).toBe(200);
    }
    const own = (aud: unknown) =>
      signed(key, { ...headerOf(key), typ: 'client-authentication+jwt' }, claims(id, { aud }));
    expect((await ask(own(issuer))).status).toBe(200);
    await expectRefused(await ask(own(token)));
    await expectRefused(await ask(own([issuer, token])));
  });

  // @shows AS-23.3, RFC7523-3e
  test('accepts clocks that differ by up to a minute', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    const now = Math.floor(clock.now() / 1000);
    for (const changes of [
      { exp: now - 58 },
      { iat: now + 58, nbf: now + 58 },
      { exp: now + 658, iat: now + 58 },
      { iat: undefined },
    ]) {
      expect((await ask(assertionOf(id, key, changes))).status).toBe(200);
    }
  });

  // @shows AS-23.3, RFC7523-3e
  test('accepts a time up to its limit, also with a fraction, and not after it', async () => {
    const key = newKey('ES256');
    const now = clock.now() / 1000;
    const moment = 0.001;
    // For each value, the last accepted one and the first rejected one.
    for (const [good, bad] of [
      [{ exp: now - 60 + moment }, { exp: now - 60 }],
      [{ iat: now + 60 }, { iat: now + 60 + moment }],
      [{ nbf: now + 60 }, { nbf: now + 60 + moment }],
      [
        { exp: now + 660, iat: undefined },
        { exp: now + 660 + moment, iat: undefined },
      ],
      [{ exp: now + 3660 }, { exp: now + 3660 + moment }],
      [
        { iat: now - 660, exp: now + 60 },
        { iat: now - 660 - moment, exp: now + 60 },
      ],
      [{ jti: 'j'.repeat(255) }, { jti: 'j'.repeat(256) }],
      [{ nbf: 0 }, { nbf: -1 }],
      [{ jti: 'j' }, { jti: '' }],
    ]) {
      const id = await serviceWith(key);
      expect([good, (await ask(assertionOf(id, key, good))).status]).toEqual([good, 200]);
      await expectRefused(await ask(assertionOf(id, key, bad)));
    }
    clock.advance(901);
  });

  // @shows AS-23.3
  test('accepts the typ JWT, its specific typ or none, in any case, with or without application/', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    const typed = (typ: string) => ask(signed(key, { ...headerOf(key), typ }, claims(id)));
    for (const typ of ['JWT', 'jwt', 'application/JWT', 'Client-Authentication+JWT'])
      expect([typ, (await typed(typ)).status]).toEqual([typ, 200]);
    for (const typ of ['', 'x-application/jwt', 'jwapplication/t'])
      await expectRefused(await typed(typ));
    clock.advance(901);
  });

  // @shows AS-23.3, RFC7523-3e
  test('accepts an assertion that lives for an hour, as from Authlib, for ten minutes from its iat', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    const anHour = () => {
      const seconds = Math.floor(clock.now() / 1000);
      return assertionOf(id, key, { iat: seconds, exp: seconds + 3600 });
    };
    expect((await ask(anHour())).status).toBe(200);
    const late = anHour();
    clock.advance(658);
    expect((await ask(late)).status).toBe(200);
    const later = anHour();
    clock.advance(662);
    await expectRefused(await ask(later));
    // The assertion also stays used when the record of its use is no longer needed.
    clock.advance(3600);
    await portal.server.prune();
    await expectRefused(await ask(late));
  });

  // @shows AS-23.3, RFC7523-2.2, RFC7523-3a, RFC7521-4.2
  test('accepts a missing client_id, and refuses a different one', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    expect((await ask(assertionOf(id, key), { client_id: id })).status).toBe(200);
    const other = await serviceWith(key);
    await expectRefused(await ask(assertionOf(id, key), { client_id: other }));
    await expectRefused(await ask(assertionOf(id, key), { client_id: 'unknown' }));
  });

  // @shows AS-23.2, RFC7523-2.2b, RFC7521-4.2
  test('must be the only credential of the request, and complete', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    const grant = { grant_type: 'client_credentials' };
    await expectRefused(await ask(assertionOf(id, key), { client_secret: 'a' }), 'invalid_request');
    await expectRefused(
      await requestToken(
        portal,
        { id, secret: 'a' },
        { ...grant, ...withAssertion(assertionOf(id, key)) },
      ),
      'invalid_request',
    );
    const [assertion] = [assertionOf(id, key)];
    await expectRefused(
      await requestToken(portal, null, { ...grant, client_assertion: assertion }),
      'invalid_request',
    );
    await expectRefused(
      await requestToken(portal, null, {
        ...grant,
        client_id: id,
        client_assertion_type: ASSERTION_TYPE,
      }),
      'invalid_request',
    );
    await expectRefused(
      await ask(assertion, {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer',
      }),
    );
    // None of these requests marked the assertion as used.
    expect((await ask(assertion)).status).toBe(200);
  });

  // @shows AS-23.2
  test('works only for clients that are registered for it', async () => {
    const key = newKey('ES256');
    const confidential = await registerClient(portal, {
      grants: ['client_credentials'],
      redirectUris: [],
      scopes: ['notes:read'],
    });
    const open = await registerClient(portal, { public: true });
    for (const { id } of [confidential, open, { id: 'unknown' }]) {
      await expectRefused(await ask(assertionOf(id, key)));
    }
    const id = await serviceWith(key);
    await portal.server.clients.revoke(id);
    await expectRefused(await ask(assertionOf(id, key)));
  });

  // @shows RFC7523-3f
  test('ignores other claims and header members', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    const more = { azp: id, scope: 'notes:write', roles: ['admin'], client_id: 'another' };
    // It need not name its key either.
    expect((await ask(signed(key, { alg: key.algorithm }, claims(id)))).status).toBe(200);
    const assertion = signed(
      key,
      { ...headerOf(key), x5t: 'AA', cty: 'a' },
      { ...claims(id), ...more },
    );
    const answer = await ask(assertion);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ scope: 'notes:read' });
  });

  // @shows RFC7523-2.1
  test('accepts an assertion only for client authentication, not as a grant', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    const grant = {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: assertionOf(id, key),
    };
    await expectRefused(await ask(assertionOf(id, key), grant), 'unsupported_grant_type');
    await expectRefused(await requestToken(portal, null, grant));
  });

  // @shows AS-23.2, OIDC-9
  test('accepts only the registered algorithm of the client, if it has one', async () => {
    const key = newKey('RS256');
    const { client } = await portal.server.clients.create({
      name: 'A service',
      scopes: ['notes:read'],
      grants: ['client_credentials'],
      jwks: { keys: [key.jwk] },
      tokenEndpointAuthSigningAlg: 'PS256',
    });
    await expectRefused(await ask(assertionOf(client.id, key)));
    expect((await ask(assertionOf(client.id, { ...key, algorithm: 'PS256' }))).status).toBe(200);
  });
});

describe('a client assertion', () => {
  // @shows AS-23.4, RFC7523-3c, OIDC-9
  test('can be used once at any endpoint; its jti is per client, and a failed use does not count', async () => {
    const key = newKey('ES256');
    const [id, other] = [await serviceWith(key), await serviceWith(key)];
    const assertion = assertionOf(id, key, { jti: 'the-same' });
    await expectRefused(await ask(`${assertion.slice(0, -4)}AAAA`));
    expect((await ask(assertion)).status).toBe(200);
    await expectRefused(await ask(assertion));
    await expectRefused(await ask(assertionOf(id, key, { jti: 'the-same' })));
    const body = new URLSearchParams({ token: 'a', ...withAssertion(assertion) });
    for (const path of ['revoke', 'introspect']) {
      await expectRefused(await fetch(`${portal.url}/oauth/${path}`, { method: 'POST', body }));
    }
    expect((await ask(assertionOf(other, key, { jti: 'the-same' }))).status).toBe(200);
  });

  // @shows AS-23.4
  test('has its row stored while it could be used, and removed later', async () => {
    const key = newKey('ES256');
    const assertion = assertionOf(await serviceWith(key), key);
    expect((await ask(assertion)).status).toBe(200);
    const { database } = portal.application;
    const count = async () =>
      Number(
        (await database.execute<{ n: number }>('SELECT COUNT(*) AS n FROM oauth_single_uses'))
          .rows[0]?.n,
      );
    await portal.server.prune();
    expect(await count()).toBeGreaterThan(0);
    const { rows } = await database.execute('SELECT * FROM oauth_single_uses');
    expect(JSON.stringify(rows)).not.toContain(assertion.split('.')[1]);
    clock.advance(3600 + 900);
    await portal.server.prune();
    expect(await count()).toBe(0);
    await expectRefused(await ask(assertion));
  });
});

describe('the record of a used assertion', () => {
  // @shows AS-23.4
  test('is stored while the assertion is valid, also after pruning', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    // Valid for seventy seconds and a fraction of a second. It ends before the next whole second.
    const now = clock.now() / 1000;
    const exp = (now + Math.floor(now) + 1) / 2 + 10;
    const assertion = assertionOf(id, key, { exp });
    const behind = assertionOf(id, key, { exp: exp + 3000 });
    for (const each of [assertion, behind]) expect((await ask(each)).status).toBe(200);
    clock.advance(70);
    await portal.server.prune();
    await expectRefused(await ask(assertion));
    await expectRefused(await ask(behind));
    clock.advance(901);
  });

  // @shows AS-23.4
  test('is removed at most eleven minutes after its issue, whatever the expiry of the assertion', async () => {
    const key = newKey('ES256');
    const id = await serviceWith(key);
    const { database } = portal.application;
    const used = async () =>
      (
        await database.execute<{ hash: string; at: number | string }>(
          'SELECT hash, expires_at AS at FROM oauth_single_uses',
        )
      ).rows;
    const issued = Math.floor(clock.now() / 1000);
    for (const [changes, until] of [
      [{ iat: issued, exp: issued + 3600 }, issued + 660],
      [{ iat: issued, exp: issued + 30 }, issued + 90],
      [{ iat: undefined, exp: issued + 30.5 }, issued + 91],
    ] as const) {
      const before = new Set((await used()).map(({ hash }) => hash));
      expect((await ask(assertionOf(id, key, changes))).status).toBe(200);
      const added = (await used()).filter(({ hash }) => !before.has(hash));
      expect(added.map(({ at }) => Number(at))).toEqual([until * 1000]);
    }
  });
});

describe('an invalid assertion is refused without a server error:', () => {
  const key = newKey('RS256');
  const stranger = newKey('RS256', key.kid);
  let id: string;
  beforeAll(async () => {
    id = await serviceWith(key);
  });

  const now = () => Math.floor(clock.now() / 1000);
  const header = (changes: Readonly<Record<string, unknown>>) =>
    signed(key, { ...headerOf(key), ...changes }, claims(id));
  const doubled = (name: string) => {
    const text = JSON.stringify(claims(id));
    const value = JSON.stringify((claims(id) as Readonly<Record<string, unknown>>)[name]);
    return signed(key, headerOf(key), text.replace('{', `{${JSON.stringify(name)}:${value},`));
  };
  const parts = () => assertionOf(id, key).split('.') as [string, string, string];
  const pem = () => createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' });
  const unsigned = (changed: Readonly<Record<string, unknown>>) =>
    [changed, claims(id)]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
  const hmac = (secret: string | Buffer) => {
    const input = unsigned({ alg: 'HS256', kid: key.kid });
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
  };
  const CLAIMS = ['iss', 'sub', 'aud', 'exp', 'jti'] as const;

  const HOSTILE: readonly (readonly [what: string, assertion: () => string])[] = [
    ...CLAIMS.map(
      (name) => [`no ${name}`, () => assertionOf(id, key, { [name]: undefined })] as const,
    ),
    ...[...CLAIMS, 'iat'].map((name) => [`${name} twice`, () => doubled(name)] as const),
    ...[...CLAIMS, 'iat', 'nbf'].flatMap((name) =>
      [null, true, {}, [], [[]], '', 'x', -1, 1e300, { toString: 'x' }]
        .map(
          (value) =>
            [
              `${name}: ${JSON.stringify(value)}`,
              () => assertionOf(id, key, { [name]: value }),
            ] as const,
        )
        .filter(([what]) => !(name === 'jti' && what === 'jti: "x"')),
    ),
    [
      'an escaped name twice',
      () =>
        signed(key, headerOf(key), JSON.stringify(claims(id)).replace('{', '{"\\u0069ss":"a",')),
    ],
    [
      'a name twice inside a claim',
      () =>
        signed(
          key,
          headerOf(key),
          JSON.stringify(claims(id)).replace('{', '{"a":[{"b":1,"b":1}],'),
        ),
    ],
    [
      'the header has alg twice',
      () => signed(key, `{"alg":"none","alg":"RS256","kid":"${key.kid}"}`, claims(id)),
    ],
    ['expired', () => assertionOf(id, key, { exp: now() - 61 })],
    ['expires after more than an hour', () => assertionOf(id, key, { exp: now() + 3662 })],
    [
      'expires in an hour, and was signed eleven minutes ago',
      () => assertionOf(id, key, { exp: now() + 2940, iat: now() - 662 }),
    ],
    [
      'expires after eleven minutes, without an iat',
      () => assertionOf(id, key, { exp: now() + 662, iat: undefined }),
    ],
    ['exp in milliseconds', () => assertionOf(id, key, { exp: clock.now() + 60_000 })],
    ['exp as text', () => assertionOf(id, key, { exp: String(now() + 60) })],
    ['issued in the future', () => assertionOf(id, key, { iat: now() + 62 })],
    ['issued long ago', () => assertionOf(id, key, { iat: now() - 700 })],
    ['not yet valid', () => assertionOf(id, key, { nbf: now() + 62 })],
    ['a different issuer', () => assertionOf(id, key, { iss: 'https://evil.example' })],
    ['a different subject', () => assertionOf(id, key, { sub: 'another' })],
    ['a different audience', () => assertionOf(id, key, { aud: 'https://evil.example' })],
    [
      'an additional audience',
      () => assertionOf(id, key, { aud: [portal.server.issuer, 'https://evil.example'] }),
    ],
    ['an audience with a slash', () => assertionOf(id, key, { aud: `${portal.server.issuer}/` })],
    [
      'an audience in capitals',
      () => assertionOf(id, key, { aud: portal.server.issuer.toUpperCase() }),
    ],
    [
      'the audience of a resource',
      () => assertionOf(id, key, { aud: `${portal.server.issuer}/oauth/introspect` }),
    ],
    ['a long jti', () => assertionOf(id, key, { jti: 'a'.repeat(256) })],
    ['a different key', () => signed(stranger, headerOf(key), claims(id))],
    [
      'a different key in the header',
      () => signed(stranger, { ...headerOf(key), jwk: stranger.jwk }, claims(id)),
    ],
    [
      'a different key at a URL in the header',
      () => signed(stranger, { ...headerOf(key), jku: 'https://evil.example/jwks' }, claims(id)),
    ],
    [
      'a different certificate in the header',
      () =>
        signed(
          stranger,
          { ...headerOf(key), x5c: ['MIIB'], x5u: 'https://evil.example/' },
          claims(id),
        ),
    ],
    ['a different kid', () => header({ kid: 'another' })],
    ['a kid that is not a string', () => header({ kid: { a: 1 } })],
    ['no kid, and a different key', () => signed(stranger, { alg: 'RS256' }, claims(id))],
    ['no alg', () => header({ alg: undefined })],
    ['alg none', () => `${unsigned({ alg: 'none' })}.`],
    ['alg none, signed', () => header({ alg: 'none' })],
    ['alg None', () => header({ alg: 'None' })],
    ['alg HS256, signed with the public key', () => hmac(pem())],
    ['alg HS256, signed with the JWK', () => hmac(JSON.stringify(key.jwk))],
    ['alg HS256, signed with nothing', () => hmac('')],
    ['the alg of a different signature', () => header({ alg: 'PS256' })],
    ['the alg of a different key', () => header({ alg: 'ES256' })],
    ['alg EdDSA', () => header({ alg: 'EdDSA' })],
    ['alg RS512', () => header({ alg: 'RS512' })],
    ['alg in a list', () => header({ alg: ['RS256'] })],
    ['an alg that is a property of the prototype', () => header({ alg: 'constructor' })],
    ['crit', () => header({ crit: ['exp'] })],
    ['an empty crit', () => header({ crit: [] })],
    ['b64', () => header({ crit: ['b64'], b64: false })],
    ['typ of an access token', () => header({ typ: 'at+jwt' })],
    ['typ of a proof', () => header({ typ: 'dpop+jwt' })],
    ['typ that is not a string', () => header({ typ: 1 })],
    ['no signature', () => `${parts().slice(0, 2).join('.')}.`],
    ['two parts', () => parts().slice(0, 2).join('.')],
    ['four parts', () => `${parts().join('.')}.a`],
    ['five parts', () => 'a.b.c.d.e'],
    [
      'a changed payload',
      () =>
        [
          parts()[0],
          Buffer.from(JSON.stringify(claims(id))).toString('base64url'),
          parts()[2],
        ].join('.'),
    ],
    ['padding', () => `${parts().join('.')}=`],
    ['white space', () => ` ${parts().join('.')}`],
    ['a line break', () => parts().join('.\n')],
    [
      'non-zero padding bits',
      () => {
        const text = parts().join('.');
        return `${text.slice(0, -1)}${text.endsWith('B') ? 'C' : 'B'}`;
      },
    ],
    [
      'base64 in place of base64url',
      () => parts().join('.').replaceAll('-', '+').replaceAll('_', '/') + '+',
    ],
    ['text', () => 'an assertion'],
    ['a header that is a list', () => signed(key, '["RS256"]', claims(id))],
    ['a header that is null', () => signed(key, 'null', claims(id))],
    ['a payload that is a text', () => signed(key, headerOf(key), '"text"')],
    ['a payload that is not JSON', () => signed(key, headerOf(key), '{"iss":')],
    ['deep JSON', () => signed(key, headerOf(key), '['.repeat(6000))],
    [
      'a payload that is not UTF-8',
      () => {
        const input = `${parts()[0]}._w`;
        return `${input}.${signatureOf(key, input)}`;
      },
    ],
    [
      'a byte order mark',
      () => signed(key, headerOf(key), `\u{FEFF}${JSON.stringify(claims(id))}`),
    ],
    [
      'a prototype',
      () => signed(key, headerOf(key), `{"__proto__":${JSON.stringify(claims(id))}}`),
    ],
    ...[1, 8, 32]
      .map(
        (size) =>
          [
            `a key of ${size} KB in the header`,
            () => header({ jwk: { ...key.jwk, n: 'A'.repeat(size * 1024) } }),
          ] as const,
      )
      .filter(([what]) => !what.includes(' 1 KB')),
    ['a payload of 20 KB', () => assertionOf(id, key, { more: 'a'.repeat(20_000) })],
    ['a signature of 40 KB', () => `${parts().slice(0, 2).join('.')}.${'A'.repeat(40_000)}`],
  ];

  // @shows AS-23.3, RFC7523-3a, RFC7523-3b, RFC7523-3d, RFC7523-3e, RFC7523-3.2, RFC7515-4.1, OIDC-9
  test.each(HOSTILE)('%s', async (_, assertion) => {
    // Time passes, because the server slows down failures. Another test checks that.
    clock.advance(901);
    for (const changes of [{}, { client_id: id }])
      await expectRefused(await ask(assertion(), changes));
    expect((await ask(assertionOf(id, key))).status).toBe(200);
  });

  // @shows AS-23.3
  test.each([70, 256, 1024])('an assertion of %i KB is refused before it is read', async (size) => {
    const response = await ask(header({ jwk: { n: 'A'.repeat(size * 1024) } }));
    expect(response.status).toBe(413);
  });

  // @shows AS-23.3, RFC7523-3d
  test('an assertion in which anything was changed', async () => {
    const change = fc.record({
      at: fc.nat(),
      to: fc.constantFrom(...Array.from('AZaz09-_.=+/ \0é')),
      how: fc.constantFrom('replaced', 'inserted', 'left out'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        clock.advance(901);
        const right = assertionOf(id, key);
        const changed = changes.reduce((text, { at, to, how }) => {
          const index = at % text.length;
          const rest = text.slice(how === 'inserted' ? index : index + 1);
          return `${text.slice(0, index)}${how === 'left out' ? '' : to}${rest}`;
        }, right);
        fc.pre(changed !== right);
        await expectRefused(await ask(changed));
      }),
      { numRuns: 150 },
    );
  });

  // @shows AS-23.6, AS-17.1
  test('sixty per client in 15 minutes are answered at once, then delayed, but valid ones never', async () => {
    clock.advance(901);
    const wrong = async () => (await ask(signed(stranger, headerOf(key), claims(id)))).status;
    const free = [];
    for (let times = 0; times < 60; times += 1) free.push(await wrong());
    expect(new Set(free)).toEqual(new Set([401]));
    const slowed = await ask(signed(stranger, headerOf(key), claims(id)));
    expect([slowed.status, slowed.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await ask(assertionOf(id, key))).status).toBe(200);
    expect(await wrong()).toBe(429);
    // Guesses of a secret count separately, and slow down after five.
    const guess = async () =>
      (await requestToken(portal, { id, secret: 'a guess' }, { grant_type: 'client_credentials' }))
        .status;
    const guesses = [];
    for (let times = 0; times < 6; times += 1) guesses.push(await guess());
    expect(guesses).toEqual([401, 401, 401, 401, 401, 429]);
    clock.advance(901);
  });
});

describe('a rejected assertion gets the same response each time, and the log has the reason:', () => {
  const key = newKey('ES256');
  const another = newKey('ES256', key.kid);

  async function lineFor(
    response: Response,
  ): Promise<{ readonly detail?: unknown; readonly clientId?: unknown }> {
    expect(response.status).toBe(401);
    const log = await readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
    const lines = log
      .split('\n')
      .filter((line) => line.includes(response.headers.get('x-request-id') ?? '-'));
    expect(lines).toHaveLength(1);
    return JSON.parse(lines[0] ?? '') as object;
  }
  const reasonFor = async (response: Response) => (await lineFor(response)).detail;
  const grant = { grant_type: 'client_credentials' };

  // @shows AS-9.10, AS-23.6
  test.each<[reason: string, sent: (id: string) => string]>([
    [
      'it is not signed with a key of the client',
      (id) => signed(another, headerOf(key), claims(id)),
    ],
    ['its iss and sub must both be the client', (id) => assertionOf(id, key, { iss: 'another' })],
    ['it has expired', (id) => assertionOf(id, key, { exp: 1 })],
    ['its iat is not a time', (id) => assertionOf(id, key, { iat: 'x' })],
    [
      'its nbf is in the future',
      (id) => assertionOf(id, key, { nbf: (claimsOf(id, '', clock.now())['exp'] as number) + 60 }),
    ],
    ['its exp is more than 3600 seconds ahead', (id) => assertionOf(id, key, { exp: clock.now() })],
    [
      'its exp is more than 600 seconds ahead, and it has no iat',
      (id) => assertionOf(id, key, { exp: clock.now(), iat: undefined }),
    ],
    ['its kid is not a string', (id) => signed(key, { ...headerOf(key), kid: 1 }, claims(id))],
    [
      'its typ belongs to another kind of token',
      (id) => signed(key, { ...headerOf(key), typ: 'at+jwt' }, claims(id)),
    ],
  ])('%s', async (reason, sent) => {
    const id = await serviceWith(key);
    expect(await lineFor(await ask(sent(id)))).toMatchObject({
      detail: `assertion refused: ${reason}`,
      clientId: id,
    });
    clock.advance(901);
  });

  // @shows AS-9.10, AS-23.6
  test('an unknown or revoked client, one with a secret or neither, or a different kind of input', async () => {
    const id = await serviceWith(key);
    const assertion = assertionOf(id, key);
    expect((await ask(assertion)).status).toBe(200);
    expect(await reasonFor(await ask(assertion))).toBe('assertion refused: it was used before');
    const unknown = 'f'.repeat(32);
    expect(await reasonFor(await ask(assertionOf(unknown, key)))).toBe(
      `assertion refused: no client has the id "${unknown}"`,
    );
    const secretOne = await registerClient(portal, {
      grants: ['client_credentials'],
      redirectUris: [],
      scopes: ['notes:read'],
    });
    const publicOne = await registerClient(portal, { public: true });
    for (const other of [secretOne, publicOne])
      expect(await reasonFor(await ask(assertionOf(other.id, key)))).toBe(
        'assertion refused: the client is not registered for private_key_jwt',
      );
    expect(
      await reasonFor(await requestToken(portal, null, { ...grant, client_id: id })),
    ).toContain('the request has no assertion that the server accepts');
    expect(
      await reasonFor(await requestToken(portal, null, { ...grant, client_id: secretOne.id })),
    ).toBe('the client is confidential, but the request has no secret');
    expect(await reasonFor(await requestToken(portal, { id, secret: 'x' }, grant))).toContain(
      'the request has a secret, but the client authenticates by private_key_jwt',
    );
    expect(
      await reasonFor(await requestToken(portal, { id: publicOne.id, secret: 'x' }, grant)),
    ).toBe('the request has a secret, but the client is public and has none');
    await portal.server.clients.revoke(id);
    expect(await reasonFor(await ask(assertionOf(id, key)))).toBe(
      'assertion refused: the client was revoked',
    );
    expect(await reasonFor(await requestToken(portal, null, { ...grant, client_id: id }))).toBe(
      'the client was revoked',
    );
    clock.advance(901);
  });

  // @shows AS-9.10
  test('the log reports that a secret matches neither of two only while there are two', async () => {
    const { id } = await registerClient(portal, {
      grants: ['client_credentials'],
      redirectUris: [],
      scopes: ['notes:read'],
    });
    const wrong = async () => reasonFor(await requestToken(portal, { id, secret: 'x' }, grant));
    expect(await wrong()).toBe('the secret is wrong');
    await portal.server.clients.rotateSecret(id, 60);
    expect(await wrong()).toBe('the secret is neither the current nor the previous one');
    clock.advance(60);
    expect(await wrong()).toBe('the secret is wrong');
  });
});

describe('the keys of a client', () => {
  const create = (jwks: unknown) =>
    portal.server.clients.create({
      name: 'A',
      scopes: ['notes:read'],
      grants: ['client_credentials'],
      jwks,
    });
  const rsa = newKey('RS256');

  // @shows AS-23.2, RFC7523-5
  test.each<[what: string, says: string, jwks: unknown]>([
    ['a text', 'RFC 7517', 'keys'],
    ['none', 'no key', { keys: [] }],
    ['a key that is not an object', 'not a JSON object', { keys: ['key'] }],
    ['a private key', 'private', { keys: [{ ...rsa.jwk, d: 'AAAA' }] }],
    ['a symmetric key', 'symmetric', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
    ['RSA with 1,024 bits', '1024 bits', { keys: [newKey('RS256', 'a', 1024).jwk] }],
    ['RSA with 8,192 bits', '8192 bits', { keys: [{ ...rsa.jwk, n: `_${'A'.repeat(1364)}Q` }] }],
    ['RSA with 16,384 bits', 'no readable n', { keys: [{ ...rsa.jwk, n: 'A'.repeat(2731) }] }],
    ['RSA with exponent 1', 'exponent', { keys: [{ ...rsa.jwk, e: 'AQ' }] }],
    ['RSA with exponent 3', 'exponent', { keys: [{ ...rsa.jwk, e: 'Aw' }] }],
    ['only for encryption', 'no key', { keys: [{ ...rsa.jwk, use: 'enc' }] }],
    ['for signing, not for verifying', 'no key', { keys: [{ ...rsa.jwk, key_ops: ['sign'] }] }],
    ['for an unsupported algorithm', 'no key', { keys: [{ ...rsa.jwk, alg: 'RS512' }] }],
    ['a different curve', 'no key', { keys: [{ kty: 'EC', crv: 'P-521', x: 'AA', y: 'AA' }] }],
    [
      'a point that is not on the curve',
      'not a public key',
      { keys: [{ kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) }] },
    ],
    ['a kid that is not a string', 'kid', { keys: [{ ...rsa.jwk, kid: 1 }] }],
    ['eleven keys', 'more than 10', { keys: Array.from({ length: 11 }, () => rsa.jwk) }],
  ])('cannot be registered if they are %s', async (_, says, jwks) => {
    await expect(create(jwks)).rejects.toThrow(says);
  });

  // @shows AS-23.2, RFC7517-4
  test('sign only with the algorithm in their alg', async () => {
    const key = newKey('RS256');
    const { client } = await create({
      keys: [
        { ...key.jwk, alg: 'PS256' },
        { kty: 'EC', crv: 'P-521', x: 'AA', y: 'AA' },
      ],
    });
    await expectRefused(await ask(assertionOf(client.id, key)));
    expect((await ask(assertionOf(client.id, { ...key, algorithm: 'PS256' }))).status).toBe(200);
    expect(client.secretHash).toBeNull();
    await expect(portal.server.clients.rotateSecret(client.id)).rejects.toThrow('no secret');
  });

  // @shows AS-23.2
  test('are refused for a public client, and together with a second source of keys', async () => {
    const jwks = { keys: [rsa.jwk] };
    const about = { name: 'A', scopes: ['notes:read'], grants: ['client_credentials'] };
    const { clients } = portal.server;
    await expect(clients.create({ ...about, public: true, jwks })).rejects.toThrow('public');
    await expect(
      clients.create({ ...about, jwks, jwksUri: 'https://client.example/k' }),
    ).rejects.toThrow('both');
    for (const jwksUri of [
      'http://client.example/k',
      'https://127.0.0.1/k',
      'https://a@client.example/k',
      'k',
    ]) {
      await expect(clients.create({ ...about, jwksUri })).rejects.toThrow('jwks_uri');
    }
  });
});

describe('without oauth_server:private_key_jwt', () => {
  let off: RunningPortal;
  const key = newKey('ES256');
  beforeAll(async () => {
    off = await startPortal();
  });
  afterAll(() => off.close());

  // @shows AS-23.1
  test('no client can register with keys, the metadata omits it, and assertions do not work', async () => {
    await expect(
      off.server.clients.create({
        name: 'A',
        scopes: ['notes:read'],
        grants: ['client_credentials'],
        jwks: { keys: [key.jwk] },
      }),
    ).rejects.toThrow('oauth_server:private_key_jwt is off');
    for (const [demand, says] of [
      [
        { requirePushedAuthorizationRequests: true },
        'oauth_server:pushed_authorization_requests is off',
      ],
      [{ dpopBoundAccessTokens: true }, 'oauth_server:dpop is off'],
    ] as const)
      await expect(
        off.server.clients.create({
          name: 'A',
          scopes: ['notes:read'],
          redirectUris: [REDIRECT_URI],
          ...demand,
        }),
      ).rejects.toThrow(says);
    const metadata = await (await fetch(`${off.url}/.well-known/openid-configuration`)).text();
    expect(metadata).not.toContain('private_key_jwt');
    expect(metadata).not.toContain('auth_signing_alg');
    const client = await registerClient(off, {
      redirectUris: [],
      scopes: ['notes:read'],
      grants: ['client_credentials'],
    });
    const withOther = { grant_type: 'client_credentials', ...withAssertion('a') };
    expect((await requestToken(off, client, withOther)).status).toBe(200);
  });

  // @shows AS-23.1
  test('a client with keys cannot authenticate by any method', async () => {
    const id = await serviceWith(key);
    const { rows } = await portal.application.database.execute(
      'SELECT * FROM oauth_clients WHERE client_id = ?',
      [id],
    );
    const row = rows[0] as Readonly<Record<string, string | number | null>>;
    await off.application.database.execute(
      `INSERT INTO oauth_clients (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row)
        .map(() => '?')
        .join(', ')})`,
      Object.values(row),
    );
    const grant = { grant_type: 'client_credentials' };
    const assertion = signed(key, headerOf(key), claimsOf(id, off.server.issuer, Date.now()));
    await expectRefused(
      await requestToken(off, null, { ...grant, client_id: id, ...withAssertion(assertion) }),
    );
    await expectRefused(await requestToken(off, null, { ...grant, client_id: id }));
    await expectRefused(await requestToken(off, { id, secret: '' }, grant));
    await expectRefused(await requestToken(off, { id, secret: 'null' }, grant));
  });
});

/** As the library signs with it. */
function importKey({ algorithm, privateKey }: ClientKey): Promise<CryptoKey> {
  const RSA = { RS256: 'RSASSA-PKCS1-v1_5', PS256: 'RSA-PSS' } as const;
  const how =
    algorithm === 'ES256'
      ? { name: 'ECDSA', namedCurve: 'P-256' }
      : algorithm === 'EdDSA' || algorithm === 'Ed25519'
        ? { name: 'Ed25519' }
        : { name: RSA[algorithm], hash: 'SHA-256' };
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  return crypto.subtle.importKey('pkcs8', new Uint8Array(pkcs8), how, false, ['sign']);
}

/** The library uses the system clock, but this test uses another one. */
const atClock: oauth.ModifyAssertionOptions = {
  [oauth.modifyAssertion](_, payload) {
    const seconds = Math.floor(clock.now() / 1000);
    Object.assign(payload, { iat: seconds, nbf: seconds, exp: seconds + 60 });
  },
};
