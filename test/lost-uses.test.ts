// @engines servers: it loses statements on the way to a database server, and SQLite has no server
import { openDatabase } from 'portico';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { createDatabase, LOOKING_AT_LOCKS, someoneWaits } from './support/database.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  introspect,
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
import { startPrimary, STANDBY_PATIENCE as PATIENCE } from './support/engines/lone-primary.ts';
import { SCALE } from './support/scale.ts';
import { locationOf } from './support/visitor.ts';
import { openWay } from './support/way.ts';

/** Uses that are lost on the way to the database, and their result (decision 9). */
const isPostgres = inject('databaseServer')?.startsWith('postgres') === true;
/**
 * Whether a use is one statement or a transaction. Only the matching engine declares its test,
 * because a skipped test counts as failed.
 */
const AS_STATEMENT = isPostgres ? ['PostgreSQL'] : [];
const AS_TRANSACTION = isPostgres ? [] : ['MariaDB'];
/** Only requests that issue something send all of these scopes. */
const SCOPES = 'openid profile email notes:read notes:write';

/** The response of ProxySQL if it loses the server during a statement. */
const PROXY_LOST_SERVER = Buffer.from('\x18\0\0\x01\xff\xdd\x07#HY000Lost connection', 'latin1');

/** A portal that reaches its database through a test connection, and a client. */
async function openPortal() {
  const created = await createDatabase('');
  onTestFinished(() => created.drop());
  const way = await openWay(created.url);
  const direct = openDatabase(created.url, { directory: '/' });
  onTestFinished(() => direct.close());
  const portal = await startPortal({ databaseServer: null, databaseUrl: way.url });
  onTestFinished(() => portal.close());
  const client = await registerClient(portal);
  return { way, direct, portal, client };
}

const tokensOf = async (response: Response): Promise<Tokens> => {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
};

function revokeToken(
  { url }: RunningPortal,
  { id, secret }: TestClient,
  token: string,
): Promise<Response> {
  const headers = { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
  return fetch(`${url}/oauth/revoke`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ token }),
  });
}

/** Repeats the request while its result is unavailable. */
async function untilAnswered<Answer>(
  send: () => Promise<Answer>,
  isUnavailable: (answer: Answer) => boolean,
): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (!isUnavailable(answer)) return answer;
  }
}

const is503 = ({ status }: Response) => status === 503;

/** The response of Supavisor, a pooler, if it loses the server during a statement. */
const POOLER_LOST_SERVER = Buffer.from(
  'E\0\0\0\x2cSFATAL\0VFATAL\0CXX000\0MDbHandler exited\0\0',
  'latin1',
);

/**
 * A portal whose primary can wait for a standby. `restarting` sends a request, and restarts the
 * primary with its writes. It resolves to the answer, which must wait for the standby.
 */
async function startRestarting(config?: PortalOptions['config']) {
  const { server, direct, awaitStandby, awaitNoStandby, waitsForStandby } = await startPrimary();
  const portal = await startPortal({ databaseServer: server.url, ...(config && { config }) });
  onTestFinished(() => portal.close());
  const restarting = async <Answer>(
    send: () => Promise<Answer>,
    again: (lost: Answer) => Promise<Answer> = async (answer) => answer,
  ): Promise<Answer> => {
    await awaitStandby();
    let isAnswered = false;
    const answer = send()
      .then(again)
      .finally(() => (isAnswered = true));
    await expect.poll(waitsForStandby, PATIENCE).toBe(true);
    await server.kill();
    await server.restart();
    await expect
      .poll(async () => isAnswered || (await waitsForStandby().catch(() => false)), PATIENCE)
      .toBe(true);
    expect(isAnswered).toBe(false);
    await awaitNoStandby();
    return answer;
  };
  return { direct, portal, restarting };
}

describe('a token use that arrives late at the database', () => {
  // @shows AS-18.9
  test.each(AS_STATEMENT)('is answered if a pooler lost the server meanwhile, on %s', async () => {
    const { way, portal, client } = await openPortal();
    const before = await obtainTokens(portal, client, ADA);
    way.replaces = { text: SCOPES, answer: POOLER_LOST_SERVER, ends: true };
    const after = await tokensOf(await refresh(portal, client, before.refresh_token));
    expect(await introspect(portal, after.access_token)).toMatchObject({ active: true });
    await tokensOf(await refresh(portal, client, after.refresh_token));
  });

  // @shows AS-18.9
  test.each(AS_STATEMENT)('never takes effect after its 503: a refresh, on %s', async () => {
    const { way, portal, client } = await openPortal();
    const before = await obtainTokens(portal, client, ADA);
    const delay = way.delay(SCOPES);
    const lost = refresh(portal, client, before.refresh_token);
    await delay.begun;
    way.cut();
    expect((await lost).status).toBe(503);
    await delay.deliver();
    const again = await tokensOf(await refresh(portal, client, before.refresh_token));
    expect(await introspect(portal, again.access_token)).toMatchObject({ active: true });
  });

  // @shows AS-18.9
  test.each(AS_STATEMENT)(
    'never takes effect after its 503: the exchange of a code, on %s',
    async () => {
      const { way, portal, client } = await openPortal();
      const code = await obtainCode(portal, client, await portal.signedIn(ADA));
      const delay = way.delay(SCOPES);
      const lost = exchangeCode(portal, client, code);
      await delay.begun;
      way.cut();
      expect((await lost).status).toBe(503);
      await delay.deliver();
      const again = await tokensOf(await exchangeCode(portal, client, code));
      expect(await introspect(portal, again.access_token)).toMatchObject({ active: true });
    },
  );

  // @shows AS-18.9
  test.each(AS_STATEMENT)('never takes effect after its 503: a consent, on %s', async () => {
    const { way, direct, portal, client } = await openPortal();
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(authorizationUrl(portal, client));
    const delay = way.delay(SCOPES);
    const lost = visitor.submit(page, { decision: 'allow' });
    await delay.begun;
    way.cut();
    expect((await lost).status).toBe(503);
    await delay.deliver();
    const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
    await tokensOf(await exchangeCode(portal, client, answer.searchParams.get('code') ?? ''));
    const living = 'SELECT 1 FROM oauth_families WHERE revoked_at IS NULL';
    expect((await direct.execute(living)).rows).toHaveLength(1);
  });

  // @shows AS-18.9
  test.each(AS_TRANSACTION)(
    'is answered if a proxy lost the server during its commit, on %s',
    async () => {
      const { way, portal, client } = await openPortal();
      const before = await obtainTokens(portal, client, ADA);
      way.replaces = { text: 'COMMIT', answer: PROXY_LOST_SERVER };
      const after = await tokensOf(await refresh(portal, client, before.refresh_token));
      expect(await introspect(portal, after.access_token)).toMatchObject({ active: true });
      await tokensOf(await refresh(portal, client, after.refresh_token));
    },
  );

  // @shows AS-18.9
  test.each(AS_TRANSACTION)(
    'is waited for and answered if only its commit is late, on %s',
    async () => {
      const { way, direct, portal, client } = await openPortal();
      const before = await obtainTokens(portal, client, ADA);
      const delay = way.delay('COMMIT');
      const lost = refresh(portal, client, before.refresh_token);
      await delay.begun;
      way.cut();
      await expect.poll(() => someoneWaits(direct), LOOKING_AT_LOCKS).toBe(true);
      await delay.deliver();
      const { refresh_token: next } = await tokensOf(await lost);
      await tokensOf(await refresh(portal, client, next));
    },
  );

  // @shows AS-18.9
  test.each(AS_TRANSACTION)(
    'is 503 if only its commit is lost and the server has rolled it back, on %s',
    async () => {
      const { way, direct, portal, client } = await openPortal();
      const before = await obtainTokens(portal, client, ADA);
      const delay = way.delay('COMMIT');
      const lost = refresh(portal, client, before.refresh_token);
      await delay.begun;
      way.cut();
      await expect.poll(() => someoneWaits(direct), LOOKING_AT_LOCKS).toBe(true);
      delay.drop();
      expect((await lost).status).toBe(503);
      await tokensOf(await refresh(portal, client, before.refresh_token));
    },
  );

  // @shows AS-18.9
  test.each(AS_STATEMENT)(
    'is answered only after the standby has it, like a revocation, despite a restart, on %s',
    async () => {
      const { direct, portal, restarting } = await startRestarting();
      const client = await registerClient(portal);
      const { refresh_token: token } = await obtainTokens(portal, client, ADA);
      const { refresh_token: next } = await tokensOf(
        await restarting(() => refresh(portal, client, token)),
      );
      // The server does not query the result of a revocation. The client must send it again.
      const revoke = () => revokeToken(portal, client, next);
      const revoked = await restarting(revoke, async (lost) => {
        expect(lost.status).toBe(503);
        return untilAnswered(revoke, is503);
      });
      expect(revoked.status).toBe(200);
      expect((await refresh(portal, client, next)).status).toBe(400);
      // The same is true for a person's revocation. The page then lists nothing to revoke.
      await obtainTokens(portal, client, ADA);
      const ada = await portal.signedIn(ADA);
      const page = await ada.get('/oauth/applications');
      const remove = () => ada.submit(page);
      const removed = await restarting(remove, async (lost) => {
        expect(lost.status).toBe(503);
        return untilAnswered(remove, is503);
      });
      expect(removed.status).toBe(303);
      // The same is true for the revocation of a client. Later it is refused, because the earlier
      // revocation certainly took effect.
      const revokeClient = () =>
        portal.server.clients.revoke(client.id).then(
          () => null,
          (error: unknown) => error,
        );
      const refused = await restarting(revokeClient, async (lost) => {
        expect(direct.isUnavailable(lost)).toBe(true);
        return untilAnswered(revokeClient, (error) => direct.isUnavailable(error));
      });
      expect(refused).toMatchObject({ message: 'The client is already revoked' });
    },
  );

  // @shows AS-18.9
  test.each(AS_STATEMENT)(
    'is answered only after the standby has it: the revocation of one access token, on %s',
    async () => {
      const { portal, restarting } = await startRestarting();
      const client = await registerClient(portal);
      const { access_token: token } = await obtainTokens(portal, client, ADA);
      const revoke = () => revokeToken(portal, client, token);
      const revoked = await restarting(revoke, async (lost) => {
        expect(lost.status).toBe(503);
        return untilAnswered(revoke, is503);
      });
      expect(revoked.status).toBe(200);
      expect(await introspect(portal, token)).toMatchObject({ active: false });
    },
  );

  // @shows AS-18.9
  test.each(AS_STATEMENT)(
    'is answered only after the standby has it: the revocation of an initial access token, on %s',
    async () => {
      const { direct, portal, restarting } = await startRestarting({
        oauth_server: { registration: 'initial_access_token' },
      });
      const { id } = await portal.server.initialAccessTokens.create({ uses: 1 });
      const revoke = () =>
        portal.server.initialAccessTokens.revoke(id).then(
          () => null,
          (error: unknown) => error,
        );
      const refused = await restarting(revoke, async (lost) => {
        expect(direct.isUnavailable(lost)).toBe(true);
        return untilAnswered(revoke, (error) => direct.isUnavailable(error));
      });
      expect(refused).toMatchObject({
        message: expect.stringMatching(/^No initial access token has this id/),
      });
    },
  );

  // @shows AS-5.8, AS-18.9
  test.each(AS_STATEMENT)(
    'is answered only after the standby has it: the rotation of a secret, on %s',
    async () => {
      const { portal, restarting } = await startRestarting();
      const { id } = await registerClient(portal);
      const { secret } = await restarting(() => portal.server.clients.rotateSecret(id));
      expect((await refresh(portal, { id, secret }, 'none')).status).toBe(400);
    },
  );
});

// @shows AS-18.9
test.each(AS_STATEMENT)(
  'checking a token use that waits for a standby does not block other connections, on %s',
  async () => {
    const { server, direct, awaitStandby, awaitNoStandby, waitsForStandby } = await startPrimary();
    const way = await openWay(server.url);
    // The query uses the only connection, and a statement may take longer than a client waits.
    const config = { database_pool_size: 1, database_statement_timeout: 60 };
    const portal = await startPortal({ databaseServer: null, databaseUrl: way.url, config });
    onTestFinished(() => portal.close());
    const client = await registerClient(portal);
    const { access_token: access, refresh_token: token } = await obtainTokens(portal, client, ADA);
    await awaitStandby();
    let isAnswered = false;
    const lost = refresh(portal, client, token).finally(() => (isAnswered = true));
    await expect.poll(waitsForStandby, PATIENCE).toBe(true);
    way.cut();
    await expect.poll(() => someoneWaits(direct), { ...PATIENCE, interval: 10 }).toBe(true);
    for (let reads = 0; reads < 10; reads += 1) {
      expect((await callApi(portal, '/oauth/userinfo', access)).status).toBe(200);
    }
    expect(isAnswered).toBe(false);
    await awaitNoStandby();
    await tokensOf(await lost);
  },
);

// @shows AS-18.9
test('a token use lost while another transaction changes its row is answered, or can be repeated', async () => {
  const { way, direct, portal, client } = await openPortal();
  let { refresh_token: token } = await obtainTokens(portal, client, ADA);
  const totals = { answered: 0, again: 0 };
  for (let round = 0; round < SCALE.lostUses; round += 1) {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const changing = direct.withoutTimeout().transaction(async (connection) => {
      await connection.execute(
        'UPDATE oauth_families SET refresh_generation = refresh_generation + 1',
      );
      begun.resolve();
      await ended.promise;
    });
    await begun.promise;
    let isAnswered = false;
    const lost = refresh(portal, client, token).finally(() => (isAnswered = true));
    await expect.poll(() => someoneWaits(direct), LOOKING_AT_LOCKS).toBe(true);
    way.cut();
    // After this many steps of the query, both can lock the row.
    const until = way.sent + (round % 8);
    await expect
      .poll(() => isAnswered || way.sent >= until, { ...PATIENCE, interval: 1 })
      .toBe(true);
    ended.resolve();
    await changing;
    const first = await lost;
    expect([200, 503]).toContain(first.status);
    totals[first.status === 200 ? 'answered' : 'again'] += 1;
    const last = first.status === 200 ? first : await refresh(portal, client, token);
    ({ refresh_token: token } = await tokensOf(last));
  }
  process.stdout.write(
    `${SCALE.lostUses} uses lost under a change of their row: ${totals.answered} answered, ${totals.again} 503 and used again\n`,
  );
});

// @shows AS-5.8, AS-18.9
test('a secret rotation whose confirmation is lost happens once, and the previous secret works', async () => {
  const { way, direct, portal, client } = await openPortal();
  way.holdsFrom = 'UPDATE oauth_clients';
  const lost = portal.server.clients.rotateSecret(client.id);
  const rotated = 'SELECT 1 FROM oauth_clients WHERE previous_secret_hash IS NOT NULL';
  await expect.poll(async () => (await direct.execute(rotated)).rows.length, PATIENCE).toBe(1);
  way.cut();
  way.isHeld = false;
  const { secret } = await lost;
  const statusOf = async (known: string) =>
    (await refresh(portal, { id: client.id, secret: known }, 'none')).status;
  expect([await statusOf(secret), await statusOf(client.secret), await statusOf('wrong')]).toEqual([
    400, 400, 401,
  ]);
});

describe('the registration of a new client with a late commit', () => {
  async function registerLost() {
    const { way, direct, portal } = await openPortal();
    const register = () =>
      portal.server.clients.createUnless(
        { name: 'Only one', redirectUris: [REDIRECT_URI], scopes: ['openid'] },
        ({ name }) => name === 'Only one',
      );
    // PostgreSQL's BEGIN says READ COMMITTED.
    const delay = way.delay(isPostgres ? 'COMMIT\0' : 'COMMIT');
    const lost = register().catch((error: unknown) => error);
    await delay.begun;
    way.cut();
    await expect.poll(() => someoneWaits(direct), LOOKING_AT_LOCKS).toBe(true);
    return { register, delay, lost, direct };
  }

  // @shows AS-18.9
  test('succeeds with its secret when the commit arrives', async () => {
    const { delay, lost } = await registerLost();
    await delay.deliver();
    expect(await lost).toMatchObject({ created: true });
  });

  // @shows AS-18.9
  test('fails if the commit never arrives, and can then be repeated', async () => {
    const { register, delay, lost, direct } = await registerLost();
    delay.drop();
    expect(direct.isUnavailable(await lost)).toBe(true);
    expect(await register()).toMatchObject({ created: true });
  });
});

describe('an answer on the consent page whose database confirmation is lost', () => {
  const outcomes = { allow: 'allowed', deny: 'denied' } as const;

  // @shows AS-18.9
  test.each(['allow', 'deny'] as const)(
    'takes effect once, and is answered: %s',
    async (decision) => {
      const { way, direct, portal, client } = await openPortal();
      const visitor = await portal.signedIn(ADA);
      const page = await visitor.get(authorizationUrl(portal, client));
      way.holdsFrom = isPostgres || decision === 'deny' ? outcomes[decision] : 'COMMIT';
      const lost = visitor.submit(page, { decision });
      const outcome = async () =>
        (
          await direct.execute<{ outcome: string | null }>(
            'SELECT outcome FROM oauth_consent_requests',
          )
        ).rows;
      await expect.poll(outcome, PATIENCE).toEqual([{ outcome: outcomes[decision] }]);
      way.cut();
      way.isHeld = false;
      const answer = locationOf(await lost).searchParams;
      const exchange = await exchangeCode(portal, client, answer.get('code') ?? 'none');
      expect([answer.get('error'), exchange.status]).toEqual(
        decision === 'deny' ? ['access_denied', 400] : [null, 200],
      );
      // The same response redirects again, without a code.
      const again = locationOf(await visitor.submit(page, { decision })).searchParams;
      expect([again.get('code'), again.get('error')]).toEqual([null, 'access_denied']);
    },
  );

  // @shows AS-18.9
  test('has no effect if it arrives after a repeated answer that denied the request', async () => {
    const { way, portal, client } = await openPortal();
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(authorizationUrl(portal, client));
    const delay = way.delay('denied');
    const lost = visitor.submit(page, { decision: 'deny' });
    await delay.begun;
    way.cut();
    expect(locationOf(await lost).searchParams.get('error')).toBe('access_denied');
    await delay.deliver();
    expect((await visitor.submit(page, { decision: 'allow' })).status).toBe(400);
  });
});
