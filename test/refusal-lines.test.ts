// @engines sqlite: the database makes no difference
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAdministered, type Administered } from './support/administration.ts';
import {
  ADA,
  callApi,
  exchangeCode,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  type TestClient,
} from './support/portal.ts';

let administered: Administered;
let client: TestClient;
beforeAll(async () => {
  administered = await startAdministered();
  client = await registerClient(administered.portal);
});
afterAll(() => administered.portal.close());

/** Returns the one log line of a rejected request. */
async function lineOf(refused: Promise<Response>) {
  const answer = await refused;
  expect(answer.status).toBeGreaterThanOrEqual(400);
  const [line, ...more] = await administered.linesOf(answer);
  expect(more).toEqual([]);
  return line;
}

const authorization = async () => {
  const { items } = await administered.portal.server.access.list(
    { clientId: client.id },
    { limit: 1 },
  );
  return items[0]?.id;
};

// @shows AS-29.10
test('a refusal line contains the authorization of a refused refresh token or code', async () => {
  const { portal } = administered;
  const { refresh_token: token } = await obtainTokens(portal, client, ADA);
  const first = await authorization();
  expect((await refresh(portal, client, token)).status).toBe(200);
  expect(await lineOf(refresh(portal, client, token))).toMatchObject({ authorizationId: first });
  const code = await obtainCode(portal, client, await portal.signedIn(ADA));
  const second = await authorization();
  const other = await registerClient(portal);
  expect(await lineOf(exchangeCode(portal, other, code))).toMatchObject({
    authorizationId: second,
  });
  expect(second).not.toBe(first);
});

test('a refusal line contains client and authorization of an access token that is not accepted', async () => {
  const { portal } = administered;
  const owner = await registerClient(portal);
  const { access_token: token } = await obtainTokens(portal, owner, ADA, {
    scope: 'openid notes:read',
  });
  const { items } = await portal.server.access.list({ clientId: owner.id }, { limit: 1 });
  const named = { clientId: owner.id, authorizationId: items[0]?.id };
  const write = () => callApi(portal, '/api/notes', token, { method: 'POST', body: '{}' });
  expect(await lineOf(write())).toMatchObject({
    ...named,
    detail: 'the access token does not have the scope notes:write',
  });
  await portal.server.access.revokeAuthorization(named.authorizationId ?? '');
  const detail = 'the authorization of the token was revoked';
  expect(await lineOf(callApi(portal, '/api/notes', token))).toMatchObject({ ...named, detail });
  expect(await lineOf(callApi(portal, '/oauth/userinfo', token))).toMatchObject({
    ...named,
    detail,
  });
});

test('a refusal line contains neither if they are unknown', async () => {
  const { portal } = administered;
  for (const refused of [
    refresh(portal, client, 'x'.repeat(43)),
    exchangeCode(portal, client, 'x'.repeat(43)),
  ])
    expect(await lineOf(refused)).not.toHaveProperty('authorizationId');
});

// @shows AS-9.10
test('a refusal line says that a library sends an empty secret for a public client', async () => {
  const { portal } = administered;
  const { id } = await registerClient(portal, { public: true });
  const grant = { grant_type: 'refresh_token', refresh_token: 'x'.repeat(43) };
  const detail =
    'the request has an empty secret (HTTP Basic), but the client is public: it must send only ' +
    'its client_id, in the body';
  const refused = lineOf(requestToken(portal, { id, secret: '' }, grant));
  expect(await refused).toMatchObject({ detail, clientId: id });
  const known = lineOf(requestToken(portal, null, { ...grant, client_id: id }));
  expect(await known).toMatchObject({ error: 'invalid_grant' });
});
