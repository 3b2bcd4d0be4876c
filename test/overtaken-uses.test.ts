import { readFile } from 'node:fs/promises';
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore, withExecute, type OpenedStore } from './support/opened-store.ts';
import {
  ADA,
  errorOf,
  exchangeCode,
  GRACE,
  introspect,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

/**
 * One request reads a code or token. Before its write, another request uses or ends the code or
 * token. The test forces this order.
 */
interface Overtaking {
  readonly portal: RunningPortal;
  readonly events: AuditEvent[];
  /**
   * Returns the response to the request that next reads an authorization or an access token. The
   * request continues when `meanwhile` is done.
   */
  overtaken(slow: () => Promise<Response>, meanwhile: () => Promise<unknown>): Promise<Response>;
  close(): Promise<void>;
}

const READS =
  /^SELECT (?:f\.id, [^]* FROM oauth_families f WHERE f|t\.secret_hash, [^]* WHERE t)\.id = \?$/;

async function start(oauthServer: Readonly<Record<string, unknown>>): Promise<Overtaking> {
  const opened: OpenedStore = await openStore();
  let held: { readonly read: () => void; readonly done: Promise<unknown> } | null = null;
  const database = withExecute(opened.inner, async (sql, ...rest) => {
    const result = await opened.inner.execute(sql, ...rest);
    if (held === null || !READS.test(sql)) return result;
    const { read, done } = held;
    held = null;
    read();
    await done;
    return result;
  });
  const portal = await startPortal({ database, config: { oauth_server: oauthServer } });
  const events: AuditEvent[] = [];
  portal.application.events.on(AUDIT, (event: AuditEvent) => {
    events.push(event);
  });
  return {
    portal,
    events,
    async overtaken(slow, meanwhile) {
      const [read, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { read: read.resolve, done: done.promise };
      try {
        const answer = slow();
        await Promise.race([read.promise, answer]);
        await meanwhile();
        done.resolve();
        return await answer;
      } finally {
        held = null;
        done.resolve();
      }
    },
    async close() {
      await portal.close();
      await opened.close();
    },
  };
}

let strict: Overtaking;
/** With `oauth_server:refresh_retry_seconds`. */
let lenient: Overtaking;
let client: TestClient;
/** A test of refresh tokens, with its authorization. */
let at: Overtaking;
let first: Tokens;

beforeAll(async () => {
  strict = await start({});
  lenient = await start({ refresh_retry_seconds: 60 });
});
afterAll(async () => {
  await strict.close();
  await lenient.close();
});

async function tokensOf(response: Response): Promise<Tokens> {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

async function expectRefused(
  { portal }: Overtaking,
  response: Response,
  detail: string,
  error = 'invalid_grant',
) {
  expect([response.status, await errorOf(response)]).toEqual([400, error]);
  const log = await readFile(`${portal.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8');
  const line = log
    .split('\n')
    .findLast((each) => each.includes(response.headers.get('x-request-id') ?? '?'));
  expect((JSON.parse(line ?? '{}') as { readonly detail?: string }).detail).toBe(detail);
}

const isActive = async ({ portal }: Overtaking, { access_token: token }: Tokens) =>
  (await introspect(portal, token))['active'];

const typesOf = ({ events }: Overtaking) =>
  events.map((event) => event.type).filter((type) => !type.startsWith('client_'));

function revoke({ portal }: Overtaking, token: string): Promise<Response> {
  const headers = { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
  return fetch(`${portal.url}/oauth/revoke`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ token }),
  });
}

async function begin(running: Overtaking): Promise<void> {
  at = running;
  client = await registerClient(at.portal);
  first = await obtainTokens(at.portal, client, ADA);
  at.events.length = 0;
}

const use = (tokens = first, changes: Readonly<Record<string, string>> = {}) =>
  refresh(at.portal, client, tokens.refresh_token, changes);

const AT_ONCE = 'the refresh token was used by another request at the same moment';

describe('a code that is presented, and at the same time', () => {
  let code: string;
  beforeEach(async () => {
    client = await registerClient(strict.portal);
    code = await obtainCode(strict.portal, client, await strict.portal.signedIn(ADA));
    strict.events.length = 0;
  });
  const exchange = (changes: Readonly<Record<string, string>> = {}, by = client) =>
    exchangeCode(strict.portal, by, code, changes);

  // @shows AS-5.16, AS-9.10
  test('is exchanged by a different request is a replay: everything it issued is revoked', async () => {
    let tokens: Tokens | undefined;
    const response = await strict.overtaken(exchange, async () => {
      tokens = await tokensOf(await exchange());
    });
    await expectRefused(
      strict,
      response,
      'the code was used by another request at the same moment',
    );
    expect(await isActive(strict, tokens as Tokens)).toBe(false);
    expect(typesOf(strict)).toEqual(['tokens_issued', 'code_replayed', 'family_revoked']);
  });

  // @shows AS-5.16
  test('is exchanged by a different request is a replay, even with a wrong verifier', async () => {
    let tokens: Tokens | undefined;
    const wrong = () => exchange({ code_verifier: 'x'.repeat(43) });
    const response = await strict.overtaken(wrong, async () => {
      tokens = await tokensOf(await exchange());
    });
    await expectRefused(strict, response, 'the code_verifier is wrong');
    expect(await isActive(strict, tokens as Tokens)).toBe(false);
    expect(typesOf(strict)).toEqual(['tokens_issued', 'code_replayed', 'family_revoked']);
  });

  // @shows AS-5.16
  test('is exchanged, revokes nothing if a different client presents it', async () => {
    const other = await registerClient(strict.portal);
    let tokens: Tokens | undefined;
    const response = await strict.overtaken(
      () => exchange({}, other),
      async () => {
        tokens = await tokensOf(await exchange());
      },
    );
    await expectRefused(strict, response, `the code was issued to the client ${client.id}`);
    expect(await isActive(strict, tokens as Tokens)).toBe(true);
    expect(typesOf(strict)).toEqual(['tokens_issued']);
  });

  // @shows AS-5.16, AS-5.17
  test('is exchanged before the account is suspended is a replay', async () => {
    const { portal } = strict;
    code = await obtainCode(portal, client, await portal.signedIn(GRACE));
    strict.events.length = 0;
    let tokens: Tokens | undefined;
    try {
      const response = await strict.overtaken(exchange, async () => {
        tokens = await tokensOf(await exchange());
        await portal.suspend(GRACE);
      });
      await expectRefused(
        strict,
        response,
        'the account no longer exists, or is no longer allowed to sign in',
      );
    } finally {
      await portal.restore(GRACE);
    }
    expect(await isActive(strict, tokens as Tokens)).toBe(false);
    expect(typesOf(strict)).toEqual(['tokens_issued', 'code_replayed', 'family_revoked']);
  });

  // @shows AS-5.16
  test('is replayed counts as a second replay, and the authorization is revoked once', async () => {
    await tokensOf(await exchange());
    const response = await strict.overtaken(exchange, async () => {
      expect((await exchange()).status).toBe(400);
    });
    await expectRefused(strict, response, 'the code was used before; its authorization is revoked');
    expect(typesOf(strict)).toEqual([
      'tokens_issued',
      'code_replayed',
      'family_revoked',
      'code_replayed',
    ]);
  });
});

describe.each([
  ['without a retry window', () => strict],
  ['with a retry window', () => lenient],
])('a refresh token that is used, %s, and at the same time', (_, of) => {
  beforeEach(() => begin(of()));

  // @shows AS-5.5, AS-5.18
  test('is used by a different request, then its successor: a replay, all tokens are revoked', async () => {
    let third: Tokens | undefined;
    const response = await at.overtaken(use, async () => {
      third = await tokensOf(await use(await tokensOf(await use())));
    });
    await expectRefused(at, response, AT_ONCE);
    expect(typesOf(at)).toEqual([
      'tokens_issued',
      'tokens_issued',
      'refresh_token_replayed',
      'family_revoked',
    ]);
    expect(await isActive(at, third as Tokens)).toBe(false);
    expect((await use(third)).status).toBe(400);
  });

  // @shows AS-5.5, AS-5.18
  test('is revoked by its application: refused, but not as a replay', async () => {
    const response = await at.overtaken(use, () => revoke(at, first.refresh_token));
    await expectRefused(
      at,
      response,
      'the refresh token belongs to an authorization that was revoked',
    );
    expect(typesOf(at)).toEqual(['family_revoked']);
  });
});

describe('a refresh token that a different request uses at the same time', () => {
  async function overtake(changes: Readonly<Record<string, string>> = {}) {
    let second: Tokens | undefined;
    const response = await at.overtaken(use, async () => {
      second = await tokensOf(await use(first, changes));
    });
    return { response, second: second as Tokens };
  }

  // @shows AS-5.4, AS-5.5
  test('without a retry window is a replay: all tokens are revoked', async () => {
    await begin(strict);
    const { response, second } = await overtake();
    await expectRefused(at, response, AT_ONCE);
    expect(typesOf(at)).toEqual(['tokens_issued', 'refresh_token_replayed', 'family_revoked']);
    expect(await isActive(at, second)).toBe(false);
    expect((await use(second)).status).toBe(400);
  });

  // @shows AS-5.18
  test('within the retry window gets the same response, and its tokens are valid', async () => {
    await begin(lenient);
    const { response, second } = await overtake();
    const { access_token: access, refresh_token: token } = second;
    expect(await tokensOf(response)).toMatchObject({ access_token: access, refresh_token: token });
    expect(typesOf(at)).toEqual(['tokens_issued', 'refresh_token_retried']);
    expect(await isActive(at, second)).toBe(true);
    expect((await use(second)).status).toBe(200);
  });

  // @shows AS-5.18
  test('within the retry window with a different scope is refused, and nothing is revoked', async () => {
    await begin(lenient);
    const { response, second } = await overtake({ scope: 'notes:read' });
    const detail =
      'the refresh token was used for "notes:read", but is now sent for "openid", "profile", "email", "notes:read", "notes:write"';
    await expectRefused(at, response, detail, 'invalid_scope');
    expect(await isActive(at, second)).toBe(true);
  });
});

describe('an access token that its application revokes, and that at the same time', () => {
  const revokeIt = () => revoke(strict, first.access_token);
  beforeEach(() => begin(strict));

  // @shows AS-19.12
  test('is revoked by a different request is reported once', async () => {
    const response = await at.overtaken(revokeIt, async () => {
      expect((await revokeIt()).status).toBe(200);
      expect(typesOf(at)).toEqual(['access_token_revoked']);
    });
    expect(response.status).toBe(200);
    expect(typesOf(at)).toEqual(['access_token_revoked']);
    expect(await isActive(at, first)).toBe(false);
  });

  // @shows AS-19.12
  test('is revoked with its authorization is reported after the authorization', async () => {
    const response = await at.overtaken(revokeIt, () => revoke(at, first.refresh_token));
    expect(response.status).toBe(200);
    expect(typesOf(at)).toEqual(['family_revoked', 'access_token_revoked']);
  });
});
