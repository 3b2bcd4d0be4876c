// @engines sqlite, long: the signing key does not depend on the database
import { hash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  jwtVerify,
  type JSONWebKeySet,
} from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { examine, setUpServer, type SigningAlgorithm } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  obtainCode,
  obtainTokens,
  REDIRECT_URI,
  refresh,
  registerClient,
  startPortal,
  type PortalOptions,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { locationOf } from './support/visitor.ts';

const OTHERS = ['ES256', 'EdDSA'] as const;

async function withPortal(options: PortalOptions, use: (portal: RunningPortal) => Promise<void>) {
  const portal = await startPortal(options);
  try {
    await use(portal);
  } finally {
    await portal.close();
  }
}

const text = async (portal: RunningPortal, document: string) =>
  (await fetch(`${portal.url}/.well-known/${document}`)).text();
const keySet = async (portal: RunningPortal) =>
  JSON.parse(await text(portal, 'jwks.json')) as JSONWebKeySet;
const kids = async (portal: RunningPortal) => (await keySet(portal)).keys.map(({ kid }) => kid);
const supported = async (portal: RunningPortal) =>
  (
    JSON.parse(await text(portal, 'openid-configuration')) as {
      id_token_signing_alg_values_supported: unknown;
    }
  ).id_token_signing_alg_values_supported;
const logOf = (portal: RunningPortal) =>
  readFile(path.join(portal.application.storageDirectory, 'app.log'), 'utf8');

/** The key files of an algorithm. */
async function filesOf(
  portal: RunningPortal,
  algorithm: SigningAlgorithm,
): Promise<readonly string[]> {
  const directory = portal.server.config.key_path;
  return (await readdir(directory))
    .filter((name) => name.endsWith(`.${algorithm}.json`))
    .map((name) => path.join(directory, name));
}

async function removeKeys(portal: RunningPortal, algorithm: SigningAlgorithm): Promise<void> {
  for (const file of await filesOf(portal, algorithm)) await rm(file);
  // The server reads the directory again immediately. Otherwise it would do so within a second.
  await portal.server.keys.all();
}

const register = (portal: RunningPortal, idTokenSignedResponseAlg: string) =>
  registerClient(portal, { idTokenSignedResponseAlg });

const headerOf = ({ id_token }: Pick<Tokens, 'id_token'>) => decodeProtectedHeader(id_token);

describe.each(OTHERS)('a client that is registered for %s', (algorithm) => {
  let portal: RunningPortal;
  let client: TestClient;
  beforeAll(async () => {
    portal = await startPortal();
    await portal.server.keys.generate(algorithm);
    client = await register(portal, algorithm);
  });
  afterAll(() => portal.close());

  /**
   * openid-client as a relying party that accepts only this algorithm, and verifies the signature
   * with the key set.
   */
  async function relyingParty(own: TestClient, expected: string): Promise<openid.Configuration> {
    return openid.discovery(
      new URL(portal.url),
      own.id,
      { id_token_signed_response_alg: expected },
      openid.ClientSecretBasic(own.secret),
      { execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks] },
    );
  }

  async function signIn(config: openid.Configuration) {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid email',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
    });
    const visitor = await portal.signedIn(ADA);
    const callback = locationOf(
      await visitor.submit(await visitor.get(url.href), { decision: 'allow' }),
    );
    return openid.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier,
      expectedState,
      expectedNonce,
      idTokenExpected: true,
    });
  }

  // @shows AS-11.6, OIDC-2d, OIDC-3.1.3.7
  test('gets ID tokens that openid-client verifies with the key set, also after a refresh', async () => {
    const config = await relyingParty(client, algorithm);
    const first = await signIn(config);
    const second = await openid.refreshTokenGrant(config, first.refresh_token ?? '');
    for (const tokens of [first, second]) {
      expect(decodeProtectedHeader(tokens.id_token ?? '').alg).toBe(algorithm);
      expect(tokens.claims()).toMatchObject({ aud: client.id, email: ADA });
    }
  });

  // @shows AS-11.6, OIDC-3.1.3.7
  test('gets ID tokens that oauth4webapi verifies with the key set', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true } as const;
    const issuer = new URL(portal.url);
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, insecure),
    );
    const own: oauth.Client = { client_id: client.id, id_token_signed_response_alg: algorithm };
    const tokens = await obtainTokens(portal, client, ADA);
    const response = await oauth.refreshTokenGrantRequest(
      as,
      own,
      oauth.ClientSecretBasic(client.secret),
      tokens.refresh_token,
      insecure,
    );
    const result = await oauth.processRefreshTokenResponse(as, own, response);
    await oauth.validateApplicationLevelSignature(as, response, insecure);
    expect(oauth.getValidatedIdTokenClaims(result)?.email).toBe(ADA);
  });

  // @shows AS-11.6
  test('does not affect others: RS256 clients get RS256, and each refuses the tokens of the other', async () => {
    const plain = await registerClient(portal);
    await signIn(await relyingParty(plain, 'RS256'));
    const refusal = { cause: { message: expect.stringContaining('"alg"') as string } };
    await expect(signIn(await relyingParty(plain, algorithm))).rejects.toMatchObject(refusal);
    await expect(signIn(await relyingParty(client, 'RS256'))).rejects.toMatchObject(refusal);
  });

  // @shows AS-11.1, AS-11.6, OIDC-3.1.3.6
  test('gets an at_hash that is the left half of the hash for its algorithm', async () => {
    const tokens = await obtainTokens(portal, client, ADA);
    const whole = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', tokens.access_token, 'buffer');
    const half = whole.subarray(0, whole.length / 2).toString('base64url');
    expect(decodeJwt(tokens.id_token)['at_hash']).toBe(half);
  });

  // @shows AS-6.8, AS-11.6, DISCOVERY-3c
  test('has a public key in the key set with its use and no private part; signatures have 64 bytes', async () => {
    const found = (await keySet(portal)).keys.find(({ alg }) => alg === algorithm);
    const [type, members] =
      algorithm === 'ES256'
        ? [{ kty: 'EC', crv: 'P-256' }, ['x', 'y']]
        : [{ kty: 'OKP', crv: 'Ed25519' }, ['x']];
    expect(found).toMatchObject({ ...type, use: 'sig', alg: algorithm });
    expect(Object.keys(found ?? {}).toSorted()).toEqual(
      [...members, 'alg', 'crv', 'kid', 'kty', 'use'].toSorted(),
    );
    const { id_token } = await obtainTokens(portal, client, ADA);
    expect(Buffer.from(id_token.split('.')[2] ?? '', 'base64url')).toHaveLength(64);
    expect(headerOf({ id_token })).toEqual({ alg: algorithm, kid: found?.kid, typ: 'JWT' });
  });

  // @shows AS-4.8, AS-18.14
  test('has a key file that only its owner can read, with a name that older releases skip', async () => {
    const [file = ''] = await filesOf(portal, algorithm);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(path.basename(file)).not.toMatch(/^(\d+)-[A-Za-z0-9_-]+\.json$/);
  });
});

describe('the registration of an algorithm', () => {
  let portal: RunningPortal;
  beforeAll(async () => {
    portal = await startPortal();
  });
  afterAll(() => portal.close());

  // @shows AS-13.16
  test.each(OTHERS)(
    '%s is refused without a key, and the refusal contains the command to create one',
    async (algorithm) => {
      const before = await portal.server.clients.list();
      await expect(register(portal, algorithm)).rejects.toThrow(
        `The server has no signing key for ${algorithm}; run npx portico oauth:keys:generate --alg ${algorithm} first`,
      );
      expect(await portal.server.clients.list()).toEqual(before);
    },
  );

  // @shows AS-13.16
  test.each(['none', 'HS256', 'PS256', 'es256', '', 'toString'])(
    '%j is refused',
    async (algorithm) => {
      await expect(register(portal, algorithm)).rejects.toThrow('use one of RS256, ES256, EdDSA');
    },
  );

  // @shows AS-13.16
  test.each([
    ['without the scope openid', { scopes: ['notes:read'] }],
    [
      'that can only act without a person',
      { redirectUris: [], grants: ['client_credentials'], scopes: ['notes:read'] },
    ],
  ])('is refused for a client %s, which gets no ID token', async (_, registration) => {
    const attempt = registerClient(portal, { ...registration, idTokenSignedResponseAlg: 'RS256' });
    await expect(attempt).rejects.toThrow('An ID token needs the scope openid');
  });

  // @shows AS-13.16
  test('RS256 is accepted, and is the default', async () => {
    for (const { id } of [await register(portal, 'RS256'), await registerClient(portal)]) {
      expect((await portal.server.clients.find(id))?.idTokenSignedResponseAlg).toBe('RS256');
    }
  });

  test('no key is generated for an unsupported algorithm', async () => {
    const files = await readdir(portal.server.config.key_path);
    await expect(portal.server.keys.generate('PS256' as SigningAlgorithm)).rejects.toThrow(
      RangeError,
    );
    expect(await readdir(portal.server.config.key_path)).toEqual(files);
  });
});

describe('a client whose algorithm no longer has a key', () => {
  // @shows AS-7.7, AS-11.7
  test('gets invalid_scope only for openid, before a person is asked, with the algorithm in the log', async () => {
    await withPortal({}, async (portal) => {
      await portal.server.keys.generate('ES256');
      const [client, plain] = [await register(portal, 'ES256'), await registerClient(portal)];
      await removeKeys(portal, 'ES256');
      const visitor = await portal.signedIn(ADA);
      const refused = locationOf(await visitor.get(authorizationUrl(portal, client)));
      expect(refused.searchParams.get('error')).toBe('invalid_scope');
      expect(refused.searchParams.get('error_description')).toBe(
        'The scope openid cannot be granted: the server has no signing key for ES256.',
      );
      expect(await logOf(portal)).toContain(
        `there is no signing key for ES256 in ${portal.server.config.key_path}; to create one, run oauth:keys:generate --alg ES256`,
      );
      expect(
        (await obtainTokens(portal, client, ADA, { scope: 'notes:read' })).id_token,
      ).toBeUndefined();
      expect(headerOf(await obtainTokens(portal, plain, ADA)).alg).toBe('RS256');
    });
  });

  // @shows AS-11.7
  test('keeps its code and refresh token, which work again after a key is created', async () => {
    await withPortal({}, async (portal) => {
      await portal.server.keys.generate('EdDSA');
      const client = await register(portal, 'EdDSA');
      const tokens = await obtainTokens(portal, client, ADA);
      const code = await obtainCode(portal, client, await portal.signedIn(ADA));
      await removeKeys(portal, 'EdDSA');
      expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(500);
      expect((await exchangeCode(portal, client, code)).status).toBe(500);
      const told = `There is no signing key for EdDSA in ${portal.server.config.key_path}`;
      expect((await logOf(portal)).split(told).length - 1).toBeGreaterThanOrEqual(2);
      const { kid } = await portal.server.keys.generate('EdDSA');
      for (const response of [
        await refresh(portal, client, tokens.refresh_token),
        await exchangeCode(portal, client, code),
      ]) {
        expect(headerOf((await response.json()) as Tokens)).toMatchObject({ alg: 'EdDSA', kid });
      }
    });
  });

  // @shows AS-13.2, AS-13.16
  test('is reported by the doctor with the command, unless it is revoked or has no openid scope', async () => {
    await withPortal({}, async (portal) => {
      await portal.server.keys.generate('ES256');
      const check = async () => {
        const { checks } = await examine(portal.application, portal.server);
        return checks.find(({ part }) => part === 'signing key');
      };
      const client = await register(portal, 'ES256');
      await registerClient(portal, { scopes: ['notes:read'] });
      expect(await check()).toMatchObject({
        outcome: 'ok',
        detail: expect.stringMatching(
          /^\S+ signs since \S+; \S+ signs ES256 since \S+; 2 published$/,
        ) as string,
      });
      await removeKeys(portal, 'ES256');
      expect(await check()).toEqual({
        part: 'signing key',
        outcome: 'failing',
        detail: `oauth_server:key_path: these clients cannot get the scope openid, because ${portal.server.config.key_path} has no key for their algorithm: ${client.id} (ES256)`,
        remedy: 'run npx portico oauth:keys:generate --alg ES256',
      });
      // Without openid, or without the grant for openid, the server signs no ID token for the
      // client.
      const { database } = portal.application;
      for (const [column, value] of [
        ['scope', 'notes:read'],
        ['grants', 'client_credentials'],
      ]) {
        const { rows } = await database.execute(
          `SELECT ${column} AS own FROM oauth_clients WHERE client_id = ?`,
          [client.id],
        );
        const set = (to: unknown) =>
          database.execute(`UPDATE oauth_clients SET ${column} = ? WHERE client_id = ?`, [
            String(to),
            client.id,
          ]);
        await set(value);
        expect([column, await check()]).toMatchObject([column, { outcome: 'ok' }]);
        await set(rows[0]?.['own']);
        expect(await check()).toMatchObject({ outcome: 'failing' });
      }
      await portal.server.clients.revoke(client.id);
      expect(await check()).toMatchObject({ outcome: 'ok' });
    });
  });
});

describe('the keys of several algorithms', () => {
  // @shows AS-11.2, AS-11.6
  test('are all published, and the newest of each algorithm signs, regardless of the others', async () => {
    await withPortal({}, async (portal) => {
      const { keys } = portal.server;
      const rsa = (await keys.active())?.kid;
      const [old, ec, ed] = [
        await keys.generate('ES256'),
        await keys.generate('ES256'),
        await keys.generate('EdDSA'),
      ];
      for (const [algorithm, kid] of [
        ['RS256', rsa],
        ['ES256', ec.kid],
        ['EdDSA', ed.kid],
      ] as const) {
        const tokens = await obtainTokens(portal, await register(portal, algorithm), ADA);
        expect(headerOf(tokens)).toMatchObject({ alg: algorithm, kid });
        await jwtVerify(tokens.id_token, createLocalJWKSet(await keySet(portal)), {
          algorithms: [algorithm],
        });
      }
      expect(await kids(portal)).toEqual([ed.kid, ec.kid, old.kid, rsa]);
    });
  });

  // @shows AS-5.14, AS-11.6, AS-13.7
  test('are retired by a newer key of the same algorithm; the newest of each is never removed', async () => {
    const clock = createClock();
    await withPortal({ clock: clock.now }, async (portal) => {
      const { keys } = portal.server;
      const rsa = (await keys.active())?.kid;
      const ec = await keys.generate('ES256');
      clock.advance(10_000_000);
      expect(await keys.prune(3600)).toEqual([]);
      const newer = await keys.generate('ES256');
      const ed = await keys.generate('EdDSA');
      expect(await keys.prune(3600)).toEqual([]);
      clock.advance(3602);
      expect(await keys.prune(3600)).toEqual([ec.kid]);
      clock.advance(10_000_000);
      expect(await keys.prune(3600)).toEqual([]);
      expect(await kids(portal)).toEqual([ed.kid, newer.kid, rsa]);
    });
  });

  // @shows AS-2.8, AS-11.6, OIDC-10.1.1
  test('sign in a process that did not generate them, where they are published first', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'portico-keys-'));
    const config = { oauth_server: { key_path: directory } };
    await withPortal({ config }, async (one) => {
      await withPortal({ config, signingKey: false }, async (other) => {
        for (let round = 0; round < 10; round += 1) {
          for (const algorithm of OTHERS) {
            // Make the directory look unchanged for an hour. Otherwise the server reads it at each
            // request.
            await utimes(
              directory,
              new Date(Date.now() - 3_600_000),
              new Date(Date.now() - 3_600_000),
            );
            const rotated = async () => {
              await one.server.keys.generate(algorithm);
              return (await one.server.keys.active(algorithm))?.kid;
            };
            const signing = rotated();
            let kid: string | null | undefined = null;
            while (kid === null) kid = await Promise.race([signing, kids(other).then(() => null)]);
            expect(await kids(other)).toContain(kid);
            await expect
              .poll(async () => (await other.server.keys.active(algorithm))?.kid, { timeout: 5000 })
              .toBe(kid);
          }
        }
      });
    });
    await rm(directory, { recursive: true });
  });

  test('are not created by setup, except for a missing RS256 key', async () => {
    await withPortal({ signingKey: false }, async (portal) => {
      await portal.server.keys.generate('ES256');
      expect((await setUpServer(portal.application, portal.server)).signing_key.created).toBe(true);
      expect((await portal.server.keys.all()).map(({ algorithm }) => algorithm)).toEqual([
        'RS256',
        'ES256',
      ]);
      expect((await setUpServer(portal.application, portal.server)).signing_key.created).toBe(
        false,
      );
    });
  });
});

describe('a key file that was created by hand', () => {
  /** Writes a key into a file like one that was made by hand, and removes the generated key. */
  async function madeByHand(
    portal: RunningPortal,
    name: string,
    made: SigningAlgorithm,
    changes: object,
  ) {
    const directory = portal.server.config.key_path;
    const { kid } = await portal.server.keys.generate(made);
    const file = (await readdir(directory)).find((each) => each.includes(kid)) ?? '';
    const content = JSON.parse(await readFile(path.join(directory, file), 'utf8')) as object;
    await rm(path.join(directory, file));
    await writeFile(path.join(directory, name), JSON.stringify({ ...content, ...changes }), {
      mode: 0o600,
    });
  }

  // @shows AS-5.14, AS-11.9
  test('is removed after its retirement, with any kid, and no other file is removed', async () => {
    const clock = createClock();
    await withPortal({ clock: clock.now }, async (portal) => {
      const { keys, config } = portal.server;
      const beside = path.join(config.key_path, '..', 'beside.ES256.json');
      await writeFile(beside, '{}');
      await madeByHand(portal, '1000-one.ES256.json', 'ES256', { kid: '2024-01' });
      await madeByHand(portal, '1001-two.ES256.json', 'ES256', { kid: '/../../beside' });
      await madeByHand(portal, '1002-three.json', 'RS256', { kid: 'four.ES256' });
      const newest = await keys.generate('ES256');
      await writeFile(path.join(config.key_path, '1002-four.txt'), 'no key');
      clock.advance(10_000_000);
      expect((await keys.prune(3600)).toSorted()).toEqual([
        '/../../beside',
        '2024-01',
        'four.ES256',
      ]);
      expect(await readFile(beside, 'utf8')).toBe('{}');
      expect((await readdir(config.key_path)).length).toBe(3);
      expect(await kids(portal)).toHaveLength(2);
      expect(await kids(portal)).toContain(newest.kid);
    });
  });

  // @shows AS-11.9
  test.each(['RS256', ...OTHERS] as const)(
    'signs nothing if its %s halves belong to different keys',
    async (made) => {
      await withPortal({ signingKey: false }, async (portal) => {
        const { publicJwk } = await portal.server.keys.generate(made);
        const { kid: _, ...another } = publicJwk;
        await madeByHand(
          portal,
          `${Date.now() + 10_000}-a${made === 'RS256' ? '' : `.${made}`}.json`,
          made,
          another,
        );
        await expect(portal.server.keys.all()).rejects.toThrow('cannot be read');
        expect((await fetch(`${portal.url}/.well-known/jwks.json`)).status).toBe(500);
      });
    },
  );

  // @shows AS-11.9
  test.each([7, '', null])('signs nothing if its kid is %j', async (kid) => {
    await withPortal({ signingKey: false }, async (portal) => {
      await madeByHand(portal, `${Date.now() + 10_000}-a.ES256.json`, 'ES256', { kid });
      await expect(portal.server.keys.all()).rejects.toThrow('cannot be read');
    });
  });
});

describe('a key file whose algorithm does not match its name', () => {
  test.each([
    ['an RSA key', 'ES256', 'RS256', {}],
    ['a key for encryption', 'ES256', 'ES256', { use: 'enc' }],
    ['a key for a different algorithm', 'ES256', 'ES256', { alg: 'ES384' }],
    ['a different curve', 'EdDSA', 'EdDSA', { crv: 'X25519' }],
    ['no private part', 'EdDSA', 'EdDSA', { d: undefined }],
    ['a key of P-256', 'RS256', 'ES256', {}],
  ] as const)('signs nothing: %s, named for %s', async (_, named, made, changes) => {
    await withPortal({ signingKey: false }, async (portal) => {
      const directory = portal.server.config.key_path;
      await portal.server.keys.generate(made);
      const [file = ''] = await readdir(directory);
      const content = JSON.parse(await readFile(path.join(directory, file), 'utf8')) as object;
      await rm(path.join(directory, file));
      const mark = named === 'RS256' ? '' : `.${named}`;
      await writeFile(
        path.join(directory, `${Date.now() + 1000}-by-hand${mark}.json`),
        JSON.stringify({ ...content, ...(made === named ? {} : { alg: named }), ...changes }),
      );
      await expect(portal.server.keys.all()).rejects.toThrow('cannot be read');
      await expect(portal.server.keys.active(named)).rejects.toThrow('cannot be read');
      expect((await fetch(`${portal.url}/.well-known/jwks.json`)).status).toBe(500);
    });
  });
});

describe('the discovery metadata', () => {
  // @shows AS-11.8, DISCOVERY-3a
  test('lists RS256 and every algorithm with a key, and follows key changes without a restart', async () => {
    await withPortal({}, async (portal) => {
      const { keys } = portal.server;
      expect(await supported(portal)).toEqual(['RS256']);
      await keys.generate('EdDSA');
      expect(await supported(portal)).toEqual(['RS256', 'EdDSA']);
      await keys.generate('ES256');
      expect(await supported(portal)).toEqual(['RS256', 'ES256', 'EdDSA']);
      await removeKeys(portal, 'EdDSA');
      expect(await supported(portal)).toEqual(['RS256', 'ES256']);
    });
  });

  // @shows AS-11.4, AS-11.8
  test('lists the same algorithms while the keys are lost', async () => {
    await withPortal({}, async (portal) => {
      await portal.server.keys.generate('ES256');
      const before = await text(portal, 'openid-configuration');
      expect(before).toContain('"ES256"');
      await rm(portal.server.config.key_path, { recursive: true });
      await expect
        .poll(async () => (await fetch(`${portal.url}/.well-known/jwks.json`)).status)
        .toBe(503);
      expect(await text(portal, 'openid-configuration')).toBe(before);
    });
  });
});

describe('with only RS256 keys', () => {
  // @shows AS-11.6
  test('documents, headers and file names have exactly the format of earlier releases', async () => {
    await withPortal({}, async (portal) => {
      const { url } = portal;
      const [file = ''] = await readdir(portal.server.config.key_path);
      const { n, e, kid } = JSON.parse(
        await readFile(path.join(portal.server.config.key_path, file), 'utf8'),
      ) as Record<string, string>;
      expect(file).toMatch(new RegExp(`^\\d{13}-${kid}\\.json$`));
      expect(await text(portal, 'jwks.json')).toBe(
        `{"keys":[{"kty":"RSA","n":"${n}","e":"${e}","kid":"${kid}","alg":"RS256","use":"sig"}]}`,
      );
      expect(await text(portal, 'openid-configuration')).toBe(
        `{"issuer":"${url}","authorization_endpoint":"${url}/oauth/authorize","token_endpoint":"${url}/oauth/token",` +
          `"revocation_endpoint":"${url}/oauth/revoke","introspection_endpoint":"${url}/oauth/introspect",` +
          `"jwks_uri":"${url}/.well-known/jwks.json","scopes_supported":["openid","profile","email","notes:read","notes:write"],` +
          '"response_types_supported":["code"],"response_modes_supported":["query"],' +
          '"grant_types_supported":["authorization_code","refresh_token","client_credentials"],' +
          '"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"],' +
          '"revocation_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","none"],' +
          '"introspection_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post"],' +
          '"code_challenge_methods_supported":["S256"],"authorization_response_iss_parameter_supported":true,' +
          `"userinfo_endpoint":"${url}/oauth/userinfo","subject_types_supported":["public"],` +
          '"id_token_signing_alg_values_supported":["RS256"],"prompt_values_supported":["consent","none"],' +
          '"claim_types_supported":["normal"],"claims_supported":["sub","name","family_name","given_name","middle_name",' +
          '"nickname","preferred_username","profile","picture","website","gender","birthdate","zoneinfo","locale",' +
          '"updated_at","email","email_verified"],"claims_parameter_supported":false,"request_parameter_supported":false,' +
          '"request_uri_parameter_supported":false}',
      );
      const { id_token } = await obtainTokens(portal, await registerClient(portal), ADA);
      expect(Buffer.from(id_token.split('.')[0] ?? '', 'base64url').toString()).toBe(
        `{"alg":"RS256","kid":"${kid}","typ":"JWT"}`,
      );
    });
  });

  // @shows AS-11.6, AS-11.7
  test('refusals, log and doctor have exactly the texts of earlier releases, with or without a key', async () => {
    await withPortal({}, async (portal) => {
      await registerClient(portal);
      const check = async () => {
        const { checks } = await examine(portal.application, portal.server);
        return checks.find(({ part }) => part === 'signing key');
      };
      const key = await portal.server.keys.active();
      expect(await check()).toEqual({
        part: 'signing key',
        outcome: 'ok',
        detail: `${key?.kid} signs since ${new Date(key?.createdAt ?? 0).toISOString()}; 1 published`,
        remedy: null,
      });
      await withPortal({ signingKey: false }, async (keyless) => {
        const own = await registerClient(keyless);
        const refused = locationOf(
          await (await keyless.signedIn(ADA)).get(authorizationUrl(keyless, own)),
        );
        expect(refused.search).toBe(
          `?error=invalid_scope&error_description=${encodeURIComponent(
            'The scope openid cannot be granted: the server has no signing key.',
          ).replaceAll('%20', '+')}&state=the-state&iss=${encodeURIComponent(keyless.url)}`,
        );
        expect(await logOf(keyless)).toContain(
          `there is no signing key in ${keyless.server.config.key_path}; to create one, run oauth:server:setup`,
        );
        const { checks } = await examine(keyless.application, keyless.server);
        expect(checks.find(({ part }) => part === 'signing key')).toEqual({
          part: 'signing key',
          outcome: 'failing',
          detail:
            'oauth_server:key_path: there is no signing key in ' +
            `${keyless.server.config.key_path}, so requests for openid fail`,
          remedy:
            'if keys existed before, restore their directory, or set oauth_server:key_path to the directory that contains them. If no key existed before, run npx portico oauth:server:setup',
        });
      });
    });
  });
});
