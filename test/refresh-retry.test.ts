import { AUDIT, type AuditEvent, mergeConfig, type SqlConnection } from 'portico';
import { decodeJwt } from 'jose';
import { listen, startApplication } from '@portico/kit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  errorOf,
  introspect,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { freePort } from './support/free-port.ts';

/**
 * `oauth_server:refresh_retry_seconds` (decision 37): a used refresh token that a client sends
 * again within the window.
 */
const WINDOW = 30;
/**
 * The lifetimes of the refresh tokens and the access tokens of a process whose tokens expire within
 * the window.
 */
const BRIEF = 20;
const BRIEFER = 5;
const clock = createClock();
const events: AuditEvent[] = [];
let portal: RunningPortal;
/** A portal with the same database and clock, without a window. */
let strict: RunningPortal;
let brief: RunningPortal;
/** A portal with another `oauth_server:audience`. */
let elsewhere: RunningPortal;
let client: TestClient;
/** The tokens of one authorization: those from the code, and those from its refresh token. */
let first: Tokens;
let second: Tokens;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  portal = await startPortal({
    clock: clock.now,
    config: { oauth_server: { refresh_retry_seconds: WINDOW, audience: 'https://api.example/' } },
  });
  closing.push(() => portal.close());
  portal.application.events.on(AUDIT, (event: AuditEvent) => {
    events.push(event);
  });
  strict = await startBeside({ refresh_retry_seconds: 0 });
  brief = await startBeside({ refresh_token_ttl: BRIEF, access_token_ttl: BRIEFER });
  elsewhere = await startBeside({ audience: 'https://elsewhere.example/' });
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});
beforeEach(async () => {
  client = await registerClient(portal);
  first = await obtainTokens(portal, client, ADA);
  second = await tokensOf(await refresh(portal, client, first.refresh_token));
  events.length = 0;
});

/** The same database and clock, with another configuration. */
async function startBeside(changes: Readonly<Record<string, unknown>>): Promise<RunningPortal> {
  const port = await freePort();
  const env = { ...portal.env, PORT: String(port), PUBLIC_URL: portal.url };
  const { config } = portal.definition;
  const changed = (given: Readonly<Record<string, string | undefined>>) => {
    const own = typeof config === 'function' ? config(given) : (config ?? {});
    return mergeConfig(own, { oauth_server: changes });
  };
  const application = await startApplication({ ...portal.definition, config: changed }, { env });
  const running = await listen(application, { port, hostname: '127.0.0.1' });
  closing.push(async () => {
    await running.close();
    await application.close();
  });
  return { ...portal, application, url: `http://localhost:${port}` };
}

const again = (changes: Readonly<Record<string, string>> = {}, at = portal) =>
  refresh(at, client, first.refresh_token, changes);
const types = () => events.map(({ type }) => type);

async function tokensOf(response: Response): Promise<Tokens> {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

async function refused(response: Response, error = 'invalid_grant'): Promise<void> {
  expect([response.status, await errorOf(response)]).toEqual([400, error]);
}

const secretsOf = ({ access_token: access, refresh_token: token }: Tokens) => ({ access, token });

async function expectSame(response: Response, answer = second): Promise<Tokens> {
  const tokens = await tokensOf(response);
  expect(secretsOf(tokens)).toEqual(secretsOf(answer));
  return tokens;
}

async function expectAlive(): Promise<void> {
  expect(await introspect(portal, second.access_token)).toMatchObject({ active: true });
  await tokensOf(await refresh(portal, client, second.refresh_token));
}

async function expectDead(tokens = [first, second]): Promise<void> {
  for (const { access_token: access, refresh_token: token } of tokens) {
    expect(await introspect(portal, access)).toEqual({ active: false });
    await refused(await refresh(portal, client, token));
  }
}

async function rowOf(tokens: Tokens): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await portal.application.database.execute(
    'SELECT * FROM oauth_families WHERE id = ?',
    [tokens.refresh_token.split('.')[0] ?? ''],
  );
  return rows[0] ?? {};
}

/** Copies the stored response of one row into another. */
const keep = (kept: Awaited<ReturnType<typeof rowOf>>, into: Tokens) =>
  portal.application.database.execute(
    'UPDATE oauth_families SET refresh_answer = ?, refresh_used_at = ?, refresh_generation = ? WHERE id = ?',
    [
      String(kept['refresh_answer']),
      Number(kept['refresh_used_at']),
      Number(kept['refresh_generation']),
      into.refresh_token.split('.')[0] ?? '',
    ],
  );

const setClient = (column: 'scope' | 'grants', value: string) =>
  portal.application.database.execute(
    `UPDATE oauth_clients SET ${column} = ? WHERE client_id = ?`,
    [value, client.id],
  );

describe('a used refresh token that is presented again', () => {
  // @shows AS-5.18
  test('within the window gets the same response each time, with valid tokens', async () => {
    for (let times = 0; times < 3; times += 1) await expectSame(await again());
    await expectAlive();
  });

  // @shows AS-5.18
  test('gets the remaining lifetime of the token, and a new ID token', async () => {
    clock.advance(10);
    const repeated = await expectSame(await again());
    expect(repeated.expires_in).toBe(second.expires_in - 10);
    expect(repeated.scope).toBe(second.scope);
    const [before, now] = [decodeJwt(second.id_token), decodeJwt(repeated.id_token)];
    expect(now).toEqual({ ...before, iat: (before.iat ?? 0) + 10, exp: (before.exp ?? 0) + 10 });
  });

  // @shows AS-5.18
  test('after the clock was set back by more than a minute is a replay: all tokens are revoked', async () => {
    clock.advance(-60);
    await expectSame(await again());
    clock.advance(-1);
    await refused(await again());
    clock.advance(61);
    await expectDead();
  });

  // @shows AS-5.18
  test('after the window is a replay: all tokens are revoked', async () => {
    clock.advance(WINDOW - 0.001);
    await expectSame(await again());
    clock.advance(0.001);
    await refused(await again());
    expect(types()).toEqual(['refresh_token_retried', 'refresh_token_replayed', 'family_revoked']);
    await expectDead();
  });

  // @shows AS-5.18
  test('is refused if its access token was revoked in the meantime, and nothing else is revoked', async () => {
    const revoked = await fetch(`${portal.url}/oauth/revoke`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams({ token: second.access_token }),
    });
    expect(revoked.status).toBe(200);
    await refused(await again());
    await refused(await again({ scope: 'notes:read' }), 'invalid_scope');
    expect(types()).toEqual(['access_token_revoked']);
    // Its refresh token is the current one, and the server still repeats that token's response.
    const third = await tokensOf(await refresh(portal, client, second.refresh_token));
    await expectSame(await refresh(portal, client, second.refresh_token), third);
    expect(await introspect(portal, third.access_token)).toMatchObject({ active: true });
    await refused(await again());
    await expectDead([first, second, third]);
  });

  // @shows AS-5.18
  test('whose successor has expired is a replay, even within the window', async () => {
    const third = await tokensOf(await refresh(brief, client, second.refresh_token));
    const repeat = () => refresh(brief, client, second.refresh_token);
    clock.advance(BRIEF - 0.001);
    await expectSame(await repeat(), third);
    expect(await introspect(portal, first.access_token)).toMatchObject({ active: true });
    clock.advance(0.001);
    await refused(await repeat());
    expect(await introspect(portal, first.access_token)).toEqual({ active: false });
  });

  // @shows AS-5.18
  test('whose access token has expired gets a response with expires_in 0', async () => {
    const third = await tokensOf(await refresh(brief, client, second.refresh_token));
    clock.advance(BRIEFER + 1);
    const repeated = await expectSame(await refresh(brief, client, second.refresh_token), third);
    expect([third.expires_in, repeated.expires_in]).toEqual([BRIEFER, 0]);
  });

  // @shows AS-5.18
  test('after its successor was used is a replay, even within the window: all tokens are revoked', async () => {
    const third = await tokensOf(await refresh(portal, client, second.refresh_token));
    await refused(await again());
    await expectDead([first, second, third]);
  });

  // @shows AS-5.18
  test('transfers the window to its successor, if the successor is used', async () => {
    const third = await tokensOf(await refresh(portal, client, second.refresh_token));
    await expectSame(await refresh(portal, client, second.refresh_token), third);
    clock.advance(WINDOW);
    await refused(await refresh(portal, client, second.refresh_token));
    await expectDead([first, second, third]);
  });

  // @shows AS-5.16, AS-5.18
  test('by a different client is refused, and changes nothing', async () => {
    await refused(await refresh(portal, await registerClient(portal), first.refresh_token));
    await expectSame(await again());
    await expectAlive();
  });

  // @shows AS-5.18
  test('with a wrong secret is refused, and changes nothing', async () => {
    const wrong = await refresh(portal, { ...client, secret: 'wrong' }, first.refresh_token);
    expect([wrong.status, await errorOf(wrong)]).toEqual([401, 'invalid_client']);
    await expectSame(await again());
  });

  // @shows AS-5.18
  test('with a changed secret part is a replay', async () => {
    await refused(await refresh(portal, client, `${first.refresh_token}x`));
    await expectDead();
  });
});

describe('a different request with a used refresh token', () => {
  // @shows AS-5.18
  test('for fewer scopes is refused, and changes nothing', async () => {
    await refused(await again({ scope: 'openid notes:read' }), 'invalid_scope');
    await expectSame(await again());
    await expectAlive();
  });

  // @shows AS-5.18
  test('for more scopes than the first use had is refused, and changes nothing', async () => {
    const third = await tokensOf(
      await refresh(portal, client, second.refresh_token, { scope: 'openid notes:read' }),
    );
    const offer = (scope?: string) =>
      refresh(portal, client, second.refresh_token, scope === undefined ? {} : { scope });
    await refused(await offer(), 'invalid_scope');
    await refused(await offer('openid notes:write'), 'invalid_scope');
    await refused(await offer('openid notes:read other'), 'invalid_scope');
    // With the scopes in another order, it is the same request.
    const repeated = await expectSame(await offer('notes:read openid'), third);
    expect(repeated.scope.split(' ').toSorted()).toEqual(['notes:read', 'openid']);
  });

  // @shows AS-5.18
  test('that lists all scopes by name counts as the same request', async () => {
    await expectSame(await again({ scope: 'email profile openid notes:write notes:read' }));
  });

  // @shows AS-5.18
  test('for a different resource is refused; for the resource of the token it is the same request', async () => {
    await refused(await again({ resource: 'https://other.example/' }), 'invalid_target');
    await expectSame(await again({ resource: 'https://api.example/' }));
  });
});

describe('a retry after something was removed since the first use:', () => {
  // @shows AS-1.8, AS-5.17, AS-5.18
  test('a suspended account gets no response, and after its return the same response', async () => {
    await portal.suspend(ADA);
    try {
      await refused(await again());
    } finally {
      await portal.restore(ADA);
    }
    await expectSame(await again());
    await expectAlive();
  });

  // @shows AS-5.18
  test('a removed scope is missing from the response, and so are its claims', async () => {
    await setClient('scope', 'openid notes:read');
    const repeated = await expectSame(await again());
    expect(repeated.scope).toBe('openid notes:read');
    expect(decodeJwt(second.id_token)['email']).toBe(ADA);
    expect(decodeJwt(repeated.id_token)['email']).toBeUndefined();
  });

  // @shows AS-5.18
  test('the last scope or the grant type: refused, and answered after its return', async () => {
    await setClient('scope', 'other');
    await refused(await again(), 'invalid_scope');
    await setClient('scope', 'openid profile email notes:read notes:write');
    await setClient('grants', 'authorization_code');
    await refused(await again(), 'unauthorized_client');
    await setClient('grants', 'authorization_code refresh_token');
    await expectSame(await again());
  });

  // @shows AS-5.18, AS-10.4
  test('the audience: refused, and answered after it is restored', async () => {
    await refused(await again({}, elsewhere));
    await expectSame(await again());
    await expectAlive();
  });

  // @shows AS-5.6, AS-5.18
  test('the client: refused', async () => {
    await portal.server.clients.revoke(client.id);
    const response = await again();
    expect([response.status, await errorOf(response)]).toEqual([401, 'invalid_client']);
  });

  // @shows AS-5.18, AS-10.1
  test.each(['first', 'second'])(
    'the authorization, after its %s token was revoked: refused',
    async (which) => {
      const headers = { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
      const { refresh_token: token } = which === 'first' ? first : second;
      const body = new URLSearchParams({ token });
      await fetch(`${portal.url}/oauth/revoke`, { method: 'POST', headers, body });
      await refused(await again());
      await expectDead();
      expect(types()).not.toContain('refresh_token_retried');
    },
  );
});

describe('the stored response', () => {
  // @shows AS-5.18, AS-4.6
  test('cannot be read from the row, and there is only one, however often the tokens are refreshed', async () => {
    const before = await rowOf(second);
    const sealed = Buffer.from(String(before['refresh_answer']), 'base64url').toString('latin1');
    for (const secret of [
      ...second.refresh_token.split('.'),
      ...second.access_token.split('.'),
      'notes',
    ]) {
      expect(sealed).not.toContain(secret);
    }
    let latest = second;
    for (let times = 0; times < 20; times += 1)
      latest = await tokensOf(await refresh(portal, client, latest.refresh_token));
    const after = await rowOf(latest);
    expect(String(after['refresh_answer'])).toHaveLength(String(before['refresh_answer']).length);
    expect(String(before['refresh_answer']).length).toBeLessThan(600);
  });

  // @shows AS-5.18
  test.each([false, true])(
    'of an earlier use cannot be decrypted, even with its generation: %s',
    async (hasGeneration) => {
      const row = await rowOf(second);
      const third = await tokensOf(await refresh(portal, client, second.refresh_token));
      const { refresh_generation: generation } = hasGeneration ? row : await rowOf(third);
      await keep({ ...row, refresh_generation: generation }, third);
      await refused(await again());
      await expectDead([first, second, third]);
    },
  );

  // @shows AS-5.18
  test.each(['refresh_used_at', 'refresh_generation'])(
    'cannot be decrypted after the %s of its row was changed, for example to extend the window',
    async (column) => {
      const [id = ''] = first.refresh_token.split('.');
      await portal.application.database.execute(
        `UPDATE oauth_families SET ${column} = ${column} + 1 WHERE id = ?`,
        [id],
      );
      await refused(await again());
      await expectDead();
    },
  );

  // @shows AS-5.18
  test('cannot be decrypted in the row of a different authorization', async () => {
    const other = await obtainTokens(portal, client, ADA);
    const successor = await tokensOf(await refresh(portal, client, other.refresh_token));
    await keep(await rowOf(second), other);
    await refused(await refresh(portal, client, other.refresh_token));
    await expectDead([other, successor]);
    await expectSame(await again());
  });

  // @shows AS-5.4, AS-5.5
  test('is not stored without the window, so a second use is a replay', async () => {
    const own = await startBeside({ refresh_retry_seconds: 0 });
    const { database } = own.application;
    const told: string[] = [];
    const asBefore = {
      execute: database.execute.bind(database),
      transaction: database.transaction.bind(database),
    };
    const telling = (connection: SqlConnection): SqlConnection => ({
      execute: (sql, ...rest) => {
        told.push(sql);
        return connection.execute(sql, ...rest);
      },
    });
    Object.assign(database, {
      execute: (sql: string, ...rest: []) => {
        told.push(sql);
        return asBefore.execute(sql, ...rest);
      },
      transaction: (work: (connection: SqlConnection) => Promise<unknown>, ...rest: []) =>
        asBefore.transaction((connection) => work(telling(connection)), ...rest),
    });
    try {
      const before = await obtainTokens(own, client, ADA);
      const next = await tokensOf(await refresh(own, client, before.refresh_token));
      expect(await rowOf(next)).toMatchObject({ refresh_answer: null, refresh_used_at: null });
      await refused(await refresh(own, client, before.refresh_token));
      await expectDead([before, next]);
    } finally {
      Object.assign(database, asBefore);
    }
    expect(told.some((sql) => sql.includes('UPDATE oauth_families SET refresh_hash'))).toBe(true);
    expect(told.filter((sql) => /refresh_answer|refresh_used_at/.test(sql))).toEqual([]);
  });

  // @shows AS-5.18
  test('is invalid after a process without the window has used the successor', async () => {
    const third = await tokensOf(await refresh(strict, client, second.refresh_token));
    await refused(await again());
    await expectDead([first, second, third]);
  });

  // @shows AS-5.18
  test('is not used by a process without the window: the second use is a replay', async () => {
    await refused(await again({}, strict));
    await refused(await again());
    await expectDead();
  });
});

// @shows AS-5.18, AS-19.1
test('the audit log records each second use, and whether it was answered', async () => {
  await again();
  await again({ scope: 'openid' });
  const about = { authorization: first.refresh_token.split('.')[0], clientId: client.id };
  expect(events).toMatchObject([{ type: 'refresh_token_retried', ...about }]);
});
