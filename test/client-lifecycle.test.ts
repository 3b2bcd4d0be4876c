import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  callApi,
  exchangeCode,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

let portal: RunningPortal;
const clock = createClock();

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
});
afterAll(() => portal.close());

/** Whether the token endpoint accepts this secret of the client. */
async function authenticates(client: TestClient, secret: string): Promise<boolean> {
  const form = { grant_type: 'refresh_token', refresh_token: 'unknown' };
  const response = await requestToken(portal, { ...client, secret }, form);
  return response.status !== 401;
}

describe('a client secret that is rotated', () => {
  // @shows AS-4.1, AS-13.5
  test('works together with the new secret during the overlap', async () => {
    const client = await registerClient(portal);
    const tokens = await obtainTokens(portal, client, ADA);
    const { secret, previousExpiresAt } = await portal.server.clients.rotateSecret(client.id);
    expect(secret).not.toBe(client.secret);
    expect(previousExpiresAt).toBe(clock.now() + 86_400_000);
    expect(await authenticates(client, secret)).toBe(true);
    expect(await authenticates(client, client.secret)).toBe(true);
    expect((await refresh(portal, { ...client, secret }, tokens.refresh_token)).status).toBe(200);
  });

  test('is refused after the overlap', async () => {
    const client = await registerClient(portal);
    const { secret } = await portal.server.clients.rotateSecret(client.id, 60);
    clock.advance(59);
    expect(await authenticates(client, client.secret)).toBe(true);
    clock.advance(2);
    expect(await authenticates(client, client.secret)).toBe(false);
    expect(await authenticates(client, secret)).toBe(true);
  });

  // @shows AS-5.8, AS-16.2
  test('is dropped by a second rotation during the overlap: at most two secrets are valid', async () => {
    const client = await registerClient(portal);
    const second = await portal.server.clients.rotateSecret(client.id);
    const third = await portal.server.clients.rotateSecret(client.id);
    expect(await authenticates(client, client.secret)).toBe(false);
    expect(await authenticates(client, second.secret)).toBe(true);
    expect(await authenticates(client, third.secret)).toBe(true);
  });

  test('ends immediately without an overlap', async () => {
    const client = await registerClient(portal);
    const second = await portal.server.clients.rotateSecret(client.id);
    const third = await portal.server.clients.rotateSecret(client.id, 0);
    expect(third.previousExpiresAt).toBeNull();
    expect(await authenticates(client, client.secret)).toBe(false);
    expect(await authenticates(client, second.secret)).toBe(false);
    expect(await authenticates(client, third.secret)).toBe(true);
  });

  // @shows RFC6749-10.1
  test('cannot be rotated for a public, unknown or revoked client', async () => {
    const { clients } = portal.server;
    const own = await registerClient(portal, { public: true });
    const revoked = await registerClient(portal);
    await clients.revoke(revoked.id);
    await expect(clients.rotateSecret(own.id)).rejects.toThrow('public client has no secret');
    await expect(clients.rotateSecret('unknown')).rejects.toThrow('No client has this id');
    await expect(clients.rotateSecret(revoked.id)).rejects.toThrow('revoked');
    for (const overlap of [-1, 0.5, Number.NaN, 1e12]) {
      await expect(clients.rotateSecret(revoked.id, overlap)).rejects.toThrow('overlap');
    }
  });
});

describe('a revoked client', () => {
  // @shows AS-13.9, AS-14.7
  test('is unknown, and all its tokens are invalid', async () => {
    const client = await registerClient(portal);
    const visitor = await portal.signedIn(ADA);
    const tokens = await obtainTokens(portal, client, ADA);
    const code = await obtainCode(portal, client, visitor);
    const kept = await registerClient(portal);
    const others = await obtainTokens(portal, kept, ADA);
    await portal.server.clients.revoke(client.id);
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(401);
    expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(401);
    expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(401);
    expect((await exchangeCode(portal, client, code)).status).toBe(401);
    expect((await callApi(portal, '/api/notes', others.access_token)).status).toBe(200);
    await expect(obtainCode(portal, client, visitor)).rejects.toThrow('Unknown application');
  });

  // @shows AS-14.7
  test('gets no response from an open consent page', async () => {
    const client = await registerClient(portal);
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(
      `/oauth/authorize?${new URLSearchParams({
        client_id: client.id,
        redirect_uri: 'https://client.example/callback',
        response_type: 'code',
        scope: 'notes:read',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      })}`,
    );
    await portal.server.clients.revoke(client.id);
    expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(400);
  });

  test('cannot be revoked a second time', async () => {
    const client = await registerClient(portal);
    await portal.server.clients.revoke(client.id);
    await expect(portal.server.clients.revoke(client.id)).rejects.toThrow('revoked');
  });
});

describe('signing keys that are retired', () => {
  // @shows AS-5.14, AS-11.2, AS-13.7
  test('are removed after a given age since they last signed; the active key is never removed', async () => {
    const { keys, config } = portal.server;
    const kids = async () => (await keys.all()).map(({ kid }) => kid);
    const [first = ''] = await kids();
    clock.advance(100_000);
    const second = (await keys.generate()).kid;
    // The key is old, but it stopped signing only a moment ago.
    expect(await keys.prune(3600)).toEqual([]);
    clock.advance(3600);
    expect(await keys.prune(3600)).toEqual([]);
    clock.advance(2);
    expect(await keys.prune(3600)).toEqual([first]);
    clock.advance(10_000_000);
    expect(await keys.prune(3600)).toEqual([]);
    expect(await kids()).toEqual([second]);
    expect(await readdir(config.key_path)).toHaveLength(1);
    const jwks = (await (await fetch(`${portal.url}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    };
    expect(jwks.keys.map(({ kid }) => kid)).toEqual([second]);
  });

  // @shows AS-2.12, AS-5.14
  test.each([3599, 0, -1, Number.NaN, 3600.5])(
    'cannot be removed for the invalid age %d',
    async (age) => {
      await expect(portal.server.keys.prune(age)).rejects.toThrow(
        'oauth_server:id_token_ttl, 3600 seconds',
      );
    },
  );
});
