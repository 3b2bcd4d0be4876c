// @engines sqlite: the database makes no difference
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { oauthServerConfiguration } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  callApi,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

/** Claims of the host's own scopes. */

const OFFERED = {
  roles: ['editor'],
  tenant_id: 't-1',
  'https://portal.example/plan': { name: 'large' },
  cost_centre: '4711',
  email: 'other@example.com',
  sub: 'forged',
  iss: 'forged',
  nonce: 'forged',
  cnf: { jkt: 'forged' },
};
const SCOPES = {
  'team:read': {
    label: 'See your team',
    permission: 'notes.read',
    claims: ['roles', 'tenant_id', 'email'],
  },
  'plan:read': {
    label: 'See your plan',
    permission: 'notes.read',
    claims: ['https://portal.example/plan', 'tenant_id', 'never_offered'],
  },
  phone: { label: 'See your numbers', permission: 'notes.read', claims: ['roles'] },
  'empty:read': { label: 'See nothing', permission: 'notes.read', claims: [] },
};

let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  portal = await startPortal({
    config: {
      oauth_server: { scopes: SCOPES, claims: () => ({ ...OFFERED, phone_number: '123' }) },
    },
  });
  await portal.grant(ADA, 'notes.read');
  client = await registerClient(portal, {
    scopes: ['openid', 'notes:read', ...Object.keys(SCOPES)],
  });
});
afterAll(() => portal.close());

/**
 * Returns the claims of the ID token and of UserInfo, without the members of the protocol. Checks
 * that both are the same.
 */
async function released(tokens: Tokens): Promise<Readonly<Record<string, unknown>>> {
  const { iss, aud, sub, exp, iat, at_hash: hash, nonce, ...inToken } = decodeJwt(tokens.id_token);
  expect([iss, aud, typeof hash]).toEqual([portal.url, client.id, 'string']);
  expect([exp, iat].map((time) => typeof time)).toEqual(['number', 'number']);
  expect(nonce).not.toBe('forged');
  const response = await callApi(portal, '/oauth/userinfo', tokens.access_token);
  const { sub: subject, ...atUserinfo } = (await response.json()) as Record<string, unknown>;
  expect(subject).toBe(sub);
  expect(subject).not.toBe('forged');
  expect(inToken).toEqual(atUserinfo);
  return atUserinfo;
}

const EMAIL = ADA;
const PLAN = { 'https://portal.example/plan': { name: 'large' } };

describe('the claims of a scope in oauth_server:scopes', () => {
  // @shows AS-3.8
  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['openid', {}],
    ['openid notes:read', {}],
    ['openid empty:read', {}],
    ['openid team:read', { roles: ['editor'], tenant_id: 't-1', email: EMAIL }],
    ['openid plan:read', { ...PLAN, tenant_id: 't-1' }],
    ['openid plan:read team:read', { ...PLAN, roles: ['editor'], tenant_id: 't-1', email: EMAIL }],
    ['openid phone', { phone_number: '123', roles: ['editor'] }],
  ])(
    '%s: are the same in the ID token and at UserInfo, and there are no others',
    async (scope, claims) => {
      const tokens = await obtainTokens(portal, client, ADA, { scope });
      expect(await released(tokens)).toEqual(claims);
      const next = (await (await refresh(portal, client, tokens.refresh_token)).json()) as Tokens;
      expect(await released(next)).toEqual(claims);
    },
  );

  // @shows AS-3.8
  test('are released while the person has the permission of the scope', async () => {
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'openid team:read' });
    await portal.deny(ADA, 'notes.read');
    let next: Tokens;
    try {
      next = (await (await refresh(portal, client, tokens.refresh_token)).json()) as Tokens;
      expect(await released(next)).toEqual({});
    } finally {
      await portal.grant(ADA, 'notes.read');
    }
    expect(
      await released((await (await refresh(portal, client, next.refresh_token)).json()) as Tokens),
    ).toHaveProperty('roles');
  });

  // @shows AS-3.9
  test('are dropped if their text is not well-formed Unicode, and each is logged once', async () => {
    const claims = () => ({
      roles: ['editor', 'half\uD800'],
      tenant_id: { name: { '\uDC00': 1 } },
      'https://portal.example/plan': { name: 'l\u00E4rge \u{1F600} \uFFFD' },
    });
    const other = await startPortal({ config: { oauth_server: { scopes: SCOPES, claims } } });
    try {
      await other.grant(ADA, 'notes.read');
      const at = await registerClient(other, { scopes: ['openid', ...Object.keys(SCOPES)] });
      const tokens = await obtainTokens(other, at, ADA, { scope: 'openid team:read plan:read' });
      const told = await (await callApi(other, '/oauth/userinfo', tokens.access_token)).json();
      for (const found of [decodeJwt(tokens.id_token), told]) {
        expect(found).toMatchObject({
          'https://portal.example/plan': { name: 'l\u00E4rge \u{1F600} \uFFFD' },
        });
        expect(found).not.toHaveProperty('roles');
        expect(found).not.toHaveProperty('tenant_id');
      }
      const log = await readFile(path.join(other.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
      expect(
        log.match(/The claim roles is dropped: its text is not well-formed Unicode/g),
      ).toHaveLength(1);
      expect(log.match(/The claim tenant_id is dropped: its text/g)).toHaveLength(1);
    } finally {
      await other.close();
    }
  });

  // @shows AS-3.10, OIDC-5.1a
  test('are dropped if they must be true or false and are not, and each is logged once', async () => {
    // MySQL returns a Buffer for a column of type BIT(1). As JSON, it is an object, which many
    // clients take for true.
    const claims = () => ({ phone_number: '123', phone_number_verified: Buffer.from([0]) });
    const other = await startPortal({ config: { oauth_server: { scopes: SCOPES, claims } } });
    try {
      await other.grant(ADA, 'notes.read');
      const at = await registerClient(other, { scopes: ['openid', ...Object.keys(SCOPES)] });
      const tokens = await obtainTokens(other, at, ADA, { scope: 'openid phone' });
      const told = await (await callApi(other, '/oauth/userinfo', tokens.access_token)).json();
      for (const found of [decodeJwt(tokens.id_token), told])
        expect(found).not.toHaveProperty('phone_number_verified');
      const log = await readFile(path.join(other.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
      expect(
        log.match(/The claim phone_number_verified is dropped: it is neither true nor false/g),
      ).toHaveLength(1);
    } finally {
      await other.close();
    }
  });

  // @shows AS-3.8
  test('are all in the metadata, once each', async () => {
    const response = await fetch(`${portal.url}/.well-known/openid-configuration`);
    const { claims_supported: claims } = (await response.json()) as {
      claims_supported: readonly string[];
    };
    expect(claims).toEqual([...new Set(claims)]);
    expect(claims).toEqual(
      expect.arrayContaining([
        'roles',
        'tenant_id',
        'https://portal.example/plan',
        'never_offered',
      ]),
    );
    expect(claims).not.toContain('cost_centre');
  });

  // @shows AS-3.8
  test.each(
    'iss sub aud exp nbf iat jti nonce at_hash c_hash auth_time acr amr azp cnf act sid client_id scope _claim_names Sub ISS constructor __proto__'
      .split(' ')
      .concat('', 'a b'),
  )('cannot be %j: the configuration is refused, with the key', (name) => {
    const scopes = { 'team:read': { label: 'See your team', claims: ['roles', name] } };
    const { error } = oauthServerConfiguration.safeParse({ name: 'Portal', scopes });
    expect(error?.issues.map(({ path }) => path.join(':'))).toEqual(['scopes:team:read:claims:1']);
  });

  test('must be a list of names', () => {
    for (const claims of ['roles', [1], { roles: true }]) {
      const scopes = { 'team:read': { label: 'See your team', claims } };
      const { error } = oauthServerConfiguration.safeParse({ name: 'Portal', scopes });
      expect(error?.issues[0]?.path.join(':')).toMatch(/^scopes:team:read:claims/);
    }
  });
});
