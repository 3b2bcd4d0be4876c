import { randomBytes } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { Event } from '@portico/kit';
import type { AuditEvent } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAssistant } from './support/assistant.ts';
import { accountsOf } from '../examples/portal/people.ts';
import { portico, porticoHere, ROOT } from './support/console.ts';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  GRACE,
  obtainCode,
  PASSWORD,
  refresh,
  registerClient,
  requestToken,
  signIn,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

/** An event, as `oauth:audit --json` and the stream print it. */
interface Item {
  readonly id: string;
  readonly time: string;
  readonly type: AuditEvent['type'];
  readonly client_id: string | null;
  readonly person: { readonly provider: string; readonly id: string } | null;
  readonly by: unknown;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly authorization_id: string | null;
  readonly reason: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

interface Page {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/**
 * The configuration of a portal that stores and streams events. Both files are in the folder of its
 * log.
 */
const recording = (file: string) => ({
  trusted_proxies: 1,
  oauth_server: {
    audit: { keep: true, stream: file },
    refresh_retry_seconds: 300,
    registration: 'initial_access_token',
  },
});

const folder = path.join(ROOT, 'test', 'fixtures', 'configured-portal');
const streamed = path.join(ROOT, 'node_modules', '.cache', 'tests', randomBytes(8).toString('hex'));
/** The portal's clock, if it differs from the console's. */
let time: number | null = null;
let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  const file = path.join(streamed, 'audit.jsonl');
  portal = await startPortal({
    signingKey: 'new',
    clock: () => time ?? Date.now(),
    random: () => 0.999,
    config: recording(file),
  });
  client = await registerClient(portal);
});
afterAll(() => portal.close());

const file = () => path.join(streamed, 'audit.jsonl');
const run = (...args: string[]) =>
  porticoHere(args, {
    cwd: folder,
    env: { ...portal.env, PORTAL_CONFIG: JSON.stringify(recording(file())) },
  });

async function list(...args: string[]): Promise<Page> {
  const { code, stdout, stderr } = await run('oauth:audit', '--json', ...args);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Page;
}

async function streamedItems(): Promise<readonly Item[]> {
  const text = await readFile(file(), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Item);
}

/** Every row unchanged, in a fixed order. */
async function rows(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await portal.application.database.execute('SELECT * FROM oauth_audit ORDER BY id')).rows;
}

/** Every usable secret, token or code that was issued or sent. */
const secrets = new Set([VERIFIER, PASSWORD]);
const secret = (text: string) => {
  secrets.add(text);
  return text;
};

async function tokensOf(response: Promise<Response>): Promise<Tokens> {
  const answer = await response;
  expect(answer.status).toBe(200);
  const tokens = (await answer.json()) as Tokens;
  for (const each of [tokens.access_token, tokens.refresh_token, tokens.id_token]) secret(each);
  return tokens;
}

const basic = ({ id, secret: word }: TestClient) =>
  `Basic ${Buffer.from(`${id}:${word}`).toString('base64')}`;

const revoke = (token: string) =>
  fetch(`${portal.url}/oauth/revoke`, {
    method: 'POST',
    headers: { Authorization: basic(client) },
    body: new URLSearchParams({ token }),
  });

const authorize = async () =>
  tokensOf(
    exchangeCode(
      portal,
      client,
      secret(await obtainCode(portal, client, await portal.signedIn(ADA))),
    ),
  );

/** Everything that happens to a person and a client over HTTP. */
async function live(): Promise<void> {
  secret(client.secret);
  const visitor = await portal.signedIn(ADA);
  await visitor.submit(await visitor.get(authorizationUrl(portal, client)), { decision: 'deny' });
  const code = secret(await obtainCode(portal, client, visitor));
  await tokensOf(exchangeCode(portal, client, code));
  await exchangeCode(portal, client, code);
  const { refresh_token: first } = await authorize();
  const { refresh_token: second } = await tokensOf(refresh(portal, client, first));
  await tokensOf(refresh(portal, client, first));
  await tokensOf(refresh(portal, client, second));
  await refresh(portal, client, first);
  await revoke((await authorize()).refresh_token);
  await revoke((await authorize()).access_token);
  await authorize();
  await visitor.submit(await visitor.get('/oauth/applications'));
  for (let count = 0; count < 6; count += 1) {
    await requestToken(
      portal,
      { ...client, secret: secret('a wrong secret') },
      { grant_type: 'x' },
    );
    const stranger = portal.visitor();
    const typed = secret('a password that was typed');
    await signIn(
      stranger,
      await stranger.get('/login'),
      secret('a-name-that-is-a-password'),
      typed,
    );
  }
}

/** The actions of a client that registers itself. */
async function register(initialAccessToken: string): Promise<void> {
  const send = (to: string, method: string, bearer: string, body: object | null) =>
    fetch(to, {
      method,
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
      body: body === null ? null : JSON.stringify(body),
    });
  const about = {
    redirect_uris: ['https://tool.example/cb'],
    scope: 'notes:read',
    client_name: 'A tool',
  };
  const registered = await send(`${portal.url}/oauth/register`, 'POST', initialAccessToken, about);
  const answer = (await registered.json()) as Readonly<Record<string, string>>;
  const { client_id: id = '', client_secret: own, registration_access_token: token = '' } = answer;
  secret(token);
  if (own !== undefined) secret(own);
  const { registration_client_uri: uri = '' } = answer;
  const changed = await send(uri, 'PUT', token, {
    ...about,
    client_id: id,
    client_name: 'Another name',
  });
  expect(changed.status).toBe(200);
  for (const value of Object.values((await changed.json()) as Readonly<Record<string, unknown>>))
    if (typeof value === 'string' && /^[\w-]{43}$/.test(value)) secret(value);
}

/** The actions of an operator in the console. */
async function operate(): Promise<void> {
  const created = await run(
    'oauth:client:create',
    'An app',
    '--redirect=https://a.example/cb',
    '--scope=openid',
    '--json',
  );
  const { client_id: id, client_secret: first } = JSON.parse(created.stdout) as Record<
    string,
    string
  >;
  secret(first ?? '');
  await run('oauth:client:update', id ?? '', '--name', 'Its other name');
  const rotated = await run('oauth:client:rotate-secret', id ?? '');
  for (const [word] of rotated.stdout.matchAll(/[\w-]{43}/g)) secret(word);
  await run('oauth:client:revoke', id ?? '');
  await run('oauth:client:revoke', 'https://blocked.example/client.json');
  await run('oauth:client:unblock', 'https://blocked.example/client.json');
  const made = await run('oauth:initial-access-token:create', '--uses=2', '--json');
  const token = JSON.parse(made.stdout) as {
    readonly id: string;
    readonly initial_access_token: string;
  };
  await register(secret(token.initial_access_token));
  await run('oauth:initial-access-token:revoke', token.id);
  await authorize();
  const held = JSON.parse((await run('oauth:authorization:list', '--json')).stdout) as {
    readonly items: readonly Pick<Item, 'id' | 'person'>[];
  };
  await run('oauth:authorization:revoke', held.items[0]?.id ?? '');
  await authorize();
  const { provider = '', id: person = '' } = held.items[0]?.person ?? {};
  await run('oauth:person:revoke', provider, person);
}

/** Emits events in the same way as the server. */
async function tell(...events: readonly AuditEvent[]): Promise<void> {
  await Promise.all(events.map((event) => portal.server.audit(event)));
}

const ADMINISTRATOR = { provider: 'accounts', id: 'the administrator' };

/** The source of each type of event in this test. */
const FROM: Readonly<Record<AuditEvent['type'], 'http' | 'console' | 'administrator' | 'unknown'>> =
  {
    consent_granted: 'http',
    consent_denied: 'http',
    tokens_issued: 'http',
    code_replayed: 'http',
    refresh_token_replayed: 'http',
    refresh_token_retried: 'http',
    family_revoked: 'http',
    access_token_revoked: 'http',
    client_changed: 'http',
    client_authentication_failed: 'http',
    client_authentication_slowed: 'http',
    sign_in_failed: 'http',
    sign_in_slowed: 'http',
    client_registered: 'console',
    client_revoked: 'console',
    client_unblocked: 'console',
    client_updated: 'console',
    person_revoked: 'console',
    secret_rotated: 'console',
    initial_access_token_created: 'console',
    initial_access_token_revoked: 'console',
    person_erased: 'administrator',
    access_ended: 'administrator',
    subjects_imported: 'administrator',
    subject_linked: 'administrator',
    subject_unlinked: 'administrator',
    access_allowed: 'administrator',
    signing_key_created: 'administrator',
    signing_key_staged: 'administrator',
    signing_key_removed: 'administrator',
    admin_refused: 'unknown',
    signed_out: 'unknown',
    tool_called: 'unknown',
    resource_read: 'unknown',
  };

/** An event over HTTP has an address and a request. An event from the console has neither. */
function whereFrom({ by, address, request_id: request }: Item): string {
  if (by === 'console')
    return address === null && request === null ? 'console' : 'a console with a request';
  if (by !== null) return 'administrator';
  if (address === null && request === null) return 'unknown';
  return address === '127.0.0.1' && /^[\w-]{36}$/.test(request ?? '') ? 'http' : 'an odd request';
}

describe('with oauth_server:audit:keep and :stream', () => {
  // @shows AS-19.6, AS-19.7
  test('every type of event is in the table and the stream, without usable secrets', async () => {
    await live();
    await operate();
    const by = ADMINISTRATOR;
    const key = { kid: 'a-kid', algorithm: 'RS256', by } as const;
    await tell(
      { type: 'person_erased', person: ADMINISTRATOR, authorizations: 2, by },
      {
        type: 'access_ended',
        authorizations: 2,
        clientTokens: 1,
        requests: 0,
        initialAccessTokens: 0,
        by,
      },
      { type: 'signing_key_created', ...key },
      { type: 'signing_key_staged', ...key },
      { type: 'signing_key_removed', ...key },
      { type: 'subjects_imported', subjects: 2, by },
      { type: 'subject_linked', person: ADMINISTRATOR, issuer: 'an issuer', tenant: null, by },
      { type: 'subject_unlinked', person: ADMINISTRATOR, issuer: 'an issuer', tenant: 'acme', by },
      { type: 'access_allowed', person: ADMINISTRATOR, clientId: client.id, by },
      {
        type: 'admin_refused',
        person: ADMINISTRATOR,
        route: 'a route',
        reason: 'permission',
        refusals: 2,
      },
      { type: 'signed_out', clientId: client.id, person: ADMINISTRATOR, confirmed: true },
      {
        type: 'tool_called',
        tool: 'a tool',
        clientId: client.id,
        person: null,
        outcome: 'failed',
        duration: 1,
      },
      {
        type: 'resource_read',
        resource: 'app://guide',
        clientId: client.id,
        person: null,
        outcome: 'failed',
        duration: 1,
      },
    );

    const { items } = await list('--limit=1000');
    const lines = await streamedItems();
    expect(items).toEqual(lines.toSorted((one, other) => (one.id < other.id ? 1 : -1)));
    const { stderr } = await run('oauth:audit', '--type=nonsense');
    const types = (/use one of (.*)$/m.exec(stderr)?.[1] ?? '').split(', ');
    expect(types.toSorted()).toEqual(Object.keys(FROM).toSorted());
    const kinds = types.map((type) => [
      type,
      [...new Set(items.filter((item) => item.type === type).map(whereFrom))].toSorted(),
    ]);
    expect(Object.fromEntries(kinds)).toEqual({
      ...Object.fromEntries(Object.entries(FROM).map(([type, from]) => [type, [from]])),
      // Events of the application itself, of an operator, and of a client.
      client_registered: ['console', 'http', 'unknown'],
      signing_key_created: ['administrator', 'unknown'],
      family_revoked: ['console', 'http'],
    });
    const ended = items.filter(({ type }) => type === 'family_revoked').map(({ reason }) => reason);
    expect(new Set(ended)).toEqual(new Set(['replay', 'client', 'person', 'operator']));

    const table = JSON.stringify(await rows());
    const stream = await readFile(file(), 'utf8');
    const said = (await run('oauth:audit', '--limit=1000')).stdout;
    expect(secrets.size).toBeGreaterThan(30);
    const found = [...secrets].filter((each) =>
      [table, stream, said].some((text) => text.includes(each)),
    );
    expect(found).toEqual([]);
  });

  // @shows AS-19.6
  test('stored events are never changed by later events', async () => {
    const before = await rows();
    await live();
    await portal.server.prune();
    const after = await rows();
    expect(after.length).toBeGreaterThan(before.length);
    expect(after.filter(({ id }) => before.some((row) => row['id'] === id))).toEqual(before);
  });

  // @shows AS-19.13, AS-19.9
  test('only a few failed sign-ins per account are stored, under a pseudonym after erasure', async () => {
    const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
    const attempt = async (identifier: string, address: string) => {
      const answer = await fetch(`${portal.url}/login`, {
        method: 'POST',
        headers: { ...from(address).headers, 'Sec-Fetch-Site': 'same-origin', Origin: portal.url },
        body: new URLSearchParams({ identifier, password: 'a guess' }),
      });
      return answer.headers.get('x-request-id');
    };
    time = Date.now() - 120_000;
    const grace = await accountsOf(portal.application).findByEmail(GRACE);
    const person = { provider: 'accounts', id: grace?.id ?? '' };
    const id = await attempt(GRACE, '192.0.2.70');
    const failed = async () => (await list('--type=sign_in_failed', '--limit=1000')).items;
    const found = (await failed()).find(({ request_id: request }) => request === id);
    expect(found).toMatchObject({
      person,
      address: '192.0.2.70',
      client_id: null,
      by: null,
      details: {},
    });

    // In a minute, five events for one account are stored, from any number of networks. For unknown
    // accounts, five events per network are stored.
    const of = async (address: RegExp) =>
      (await failed()).filter((item) => address.test(item.address ?? '')).length;
    for (let count = 0; count < 8; count += 1) await attempt(GRACE, `192.0.2.${80 + count}`);
    expect(await of(/^192\.0\.2\.8\d$/)).toBe(4);
    for (let count = 0; count < 8; count += 1) await attempt(`nobody-${count}`, '192.0.2.99');
    expect(await of(/^192\.0\.2\.99$/)).toBe(5);
    time += 60_000;
    await attempt('nobody-8', '192.0.2.99');
    expect(await of(/^192\.0\.2\.99$/)).toBe(6);
    // In a minute, at most 300 events of this type are stored. One of them was above.
    const { events } = portal.application;
    for (let count = 0; count < 310; count += 1) {
      const address = `203.0.${100 + Math.floor(count / 200)}.${count % 200}`;
      await events.emit(Event.SIGN_IN_FAILED, { person: null, address, requestId: null });
    }
    expect(await of(/^203\.0\.10[01]\./)).toBe(299);
    time = null;

    const before = (await rows()).length;
    await run('oauth:person:erase', person.provider, person.id, '--yes');
    expect((await rows()).length).toBeGreaterThanOrEqual(before);
    const erased = (await failed()).find((item) => item.id === found?.id);
    expect(erased).toMatchObject({ address: null, request_id: null });
    expect(erased?.person?.id).not.toBe(person.id);
    expect(JSON.stringify(await rows())).not.toContain(person.id);
  });

  // @shows AS-19.6, HOST-1.7
  test('events have the id of their request, and the network as the application sees it', async () => {
    const asked = await fetch(`${portal.url}/oauth/token`, {
      method: 'POST',
      headers: { 'X-Request-Id': 'asked-by-a-test', 'X-Forwarded-For': '203.0.113.9, 2001:DB8::1' },
      body: new URLSearchParams({ client_id: client.id, client_secret: 'wrong', grant_type: 'x' }),
    });
    expect(asked.headers.get('x-request-id')).toBe('asked-by-a-test');
    expect((await list('--limit=1')).items).toMatchObject([
      {
        type: 'client_authentication_failed',
        request_id: 'asked-by-a-test',
        address: '2001:db8::1',
      },
    ]);
  });

  // @shows AS-19.6
  test('the stream continues in a new file after rotation, and commands print no events', async () => {
    await rename(file(), `${file()}.1`);
    const by = { by: 'console' } as const;
    const made = await portal.server.initialAccessTokens.create({}, by);
    expect(await streamedItems()).toMatchObject([
      { type: 'initial_access_token_created', details: { initial_access_token_id: made.id } },
    ]);
    const { stdout, stderr } = await portico(['oauth:initial-access-token:create', '--json'], {
      cwd: folder,
      env: {
        ...portal.env,
        PORTAL_CONFIG: JSON.stringify({ oauth_server: { audit: { stream: '-' } } }),
      },
    });
    expect(JSON.parse(stdout)).toHaveProperty('initial_access_token');
    expect(JSON.parse(stderr)).toMatchObject({
      type: 'initial_access_token_created',
      by: 'console',
    });
  });

  // @shows AS-19.6
  test('a store that refuses events changes no response: the log has the event', async () => {
    const { database } = portal.application;
    await database.execute('ALTER TABLE oauth_audit RENAME TO oauth_audit_away');
    try {
      await authorize();
    } finally {
      await database.execute('ALTER TABLE oauth_audit_away RENAME TO oauth_audit');
    }
    const log = await readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
    const lines = log.split('\n').filter((line) => line.includes('was not stored'));
    expect(lines.map((line) => (JSON.parse(line) as { record: Item }).record)).toMatchObject([
      { type: 'consent_granted', client_id: client.id, address: '127.0.0.1' },
      { type: 'tokens_issued', client_id: client.id },
    ]);
    const { authorization_id: lost } = (JSON.parse(lines[0] ?? '') as { record: Item }).record;
    await authorize();
    const [newest] = (await list('--type=tokens_issued', '--limit=1')).items;
    expect(newest?.authorization_id).not.toBe(lost);
  });
});

describe('oauth:audit', () => {
  const person = (id: string, provider = 'accounts') => ({ provider, id });

  // @shows AS-19.8
  test('finds people byte by byte: case, accents and spaces count', async () => {
    const ids = ['a', 'a ', ' a', 'A', '\u00e9', 'e\u0301', '\u00c9', 'ß', 'ss', 'a\u200b'];
    for (const id of ids)
      await tell({ type: 'consent_denied', clientId: client.id, person: person(id, 'exact') });
    for (const id of ids) {
      const { items } = await list('--person', 'exact', id);
      expect(items.map((item) => item.person)).toEqual([person(id, 'exact')]);
      expect((await list('--person', 'exact ', id)).items).toEqual([]);
    }
    for (const id of ['\u00e9 ', 'b', '\ud800', ''])
      expect((await list('--person', 'exact', id)).items).toEqual([]);
  });

  // @shows AS-19.8
  test('lists pages, newest first, between two times, and reports which options it accepts', async () => {
    const began = Date.now();
    for (const tool of ['one', 'two', 'three', 'four', 'five']) {
      time = (time ?? began) + 60_000;
      await tell({
        type: 'tool_called',
        tool,
        clientId: 'pages',
        person: null,
        outcome: 'failed',
        duration: 1,
      });
    }
    time = null;
    const toolsOf = ({ items }: Page) => items.map(({ details }) => details['tool']);
    const first = await list('--client=pages', '--limit=2');
    expect(toolsOf(first)).toEqual(['five', 'four']);
    const second = await list('--client=pages', '--limit=2', '--after', first.next ?? '');
    expect(toolsOf(second)).toEqual(['three', 'two']);
    const third = await list('--client=pages', '--limit=2', '--after', second.next ?? '');
    expect([toolsOf(third), third.next]).toEqual([['one'], null]);
    const at = (seconds: number) => new Date(began + seconds * 1000).toISOString();
    const between = await list('--client=pages', '--since', at(120), '--until', at(240));
    expect(toolsOf(between)).toEqual(['three', 'two']);
    expect(toolsOf(await list('--client=pages', '--type=tool_called', '--until', at(90)))).toEqual([
      'one',
    ]);
    expect(toolsOf(await list('--client=pages', '--since=45s'))).toHaveLength(5);
    // A page that begins later than the requested time begins there.
    const late = ['--after', first.next ?? '', '--until', at(180)];
    expect(toolsOf(await list('--client=pages', ...late))).toEqual(['two', 'one']);
    const lines = await run('oauth:audit', '--json-lines', '--client=pages');
    const tools = lines.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as Item).details['tool']);
    expect(tools).toEqual(['five', 'four', 'three', 'two', 'one']);

    const text = await run('oauth:audit', '--client=pages', '--limit=1');
    expect(text.stdout).toBe(
      `${at(300)}  tool_called  client_id=pages  tool=five  outcome=failed  duration=1\n`,
    );
    expect(text.stderr).toMatch(/^There are more. Continue with --after [0-9a-f]{32}\n$/);
    for (const [option, message] of [
      ['--limit=0', 'The limit must be from 1 to 1000'],
      ['--limit=1001', 'The limit must be from 1 to 1000'],
      ['--limit=1e2', 'The limit must be from 1 to 1000'],
      ['--after=5', 'Invalid cursor'],
      ['--since=yesterday', '--since must be an age such as'],
      ['--until=2026-13-01', '--until must be an age such as'],
      ['--person=one', '--person needs two values'],
      ['--type=nothing', 'Unknown event type'],
    ] as const) {
      const { code, stdout, stderr } = await run('oauth:audit', option);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(message);
    }
  });

  // @shows AS-19.8
  test('treats --since as inclusive and --until as exclusive, in every time zone and in the future', async () => {
    const noon = Date.parse('2026-03-29T12:00:00Z');
    for (const [seconds, tool] of [
      [-1, 'before'],
      [0, 'noon'],
      [1, 'after'],
    ] as const) {
      time = noon + seconds * 1000;
      await tell({
        type: 'tool_called',
        tool,
        clientId: 'noon',
        person: null,
        outcome: 'failed',
        duration: 1,
      });
    }
    time = null;
    const found = async (...args: string[]) =>
      (await list('--client=noon', ...args)).items
        .map(({ details }) => details['tool'])
        .toReversed();
    const [before, at, after] = ['before', 'noon', 'after'];
    for (const text of [
      '2026-03-29T12:00:00Z',
      '2026-03-29T14:00:00+02:00',
      '2026-03-29T07:30-04:30',
    ]) {
      expect([text, await found('--since', text)]).toEqual([text, [at, after]]);
      expect([text, await found('--until', text)]).toEqual([text, [before]]);
    }
    expect(await found('--since', '2026-03-29T12:00:01Z')).toEqual([after]);
    expect(await found('--until', '2026-03-29T12:00:01Z')).toEqual([before, at]);
    expect(await found('--since', '2026-03-29T11:59:59Z')).toEqual([before, at, after]);
    expect(await found('--until', '2026-03-29T11:59:59Z')).toEqual([]);
    // A date is its beginning in UTC.
    expect(await found('--since', '2026-03-30')).toEqual([]);
    expect(await found('--since', '2026-03-29')).toEqual([before, at, after]);
    expect(await found('--until', '2026-03-29')).toEqual([]);
    expect(await found('--since', '9999-12-31')).toEqual([]);
    expect(await found('--until', '9999-12-31T23:59:59Z')).toEqual([before, at, after]);
    for (const text of [
      '2026-03-29T12:00:00',
      '2026-03-29 12:00',
      '1774785600',
      '-1h',
      '1.5h',
      '30M',
      '',
    ])
      for (const option of ['--since', '--until'])
        expect((await run('oauth:audit', `${option}=${text}`)).stderr).toContain(
          `${option} must be an age such as`,
        );
  });

  // @shows AS-19.8
  test('accepts bounds between two milliseconds', async () => {
    const at = Date.parse('2026-03-29T12:00:00Z');
    time = at;
    await tell({ type: 'consent_denied', clientId: 'between', person: person('between') });
    time = null;
    const found = async (range: object) =>
      (await portal.server.audit.list({ clientId: 'between', ...range })).items.length;
    expect(await Promise.all([at - 0.5, at, at + 0.5].map((since) => found({ since })))).toEqual([
      1, 1, 0,
    ]);
    expect(await Promise.all([at - 0.5, at, at + 0.5].map((until) => found({ until })))).toEqual([
      0, 0, 1,
    ]);
  });

  // @shows AS-19.8
  test('keeps events of one millisecond in order', async () => {
    time = Date.now() - 60_000;
    const order = Array.from({ length: 12 }, (_, index) => String(index));
    await tell(
      ...order.map(
        (id) => ({ type: 'consent_denied', clientId: 'at once', person: person(id) }) as const,
      ),
    );
    time = null;
    const { items } = await list('--client=at once');
    expect(items.map((item) => item.person?.id)).toEqual(order.toReversed());
  });

  // @shows AS-19.8
  test('combines client and person: the same id at a different provider is a different person', async () => {
    const [one, other] = [person('same', 'one'), person('same', 'other')];
    await tell(
      { type: 'consent_denied', clientId: 'of two', person: one },
      { type: 'consent_denied', clientId: 'of two', person: other },
      { type: 'consent_denied', clientId: 'of one', person: one },
    );
    for (const [args, people] of [
      [['--client=of two', '--person', 'one', 'same'], [one]],
      [
        ['--client=of two', '--type=consent_denied'],
        [other, one],
      ],
      [['--client=of one', '--person', 'other', 'same'], []],
      [['--type=consent_denied', '--person', 'other', 'same'], [other]],
    ] as const) {
      const { items } = await list(...args);
      expect([args, items.map((item) => item.person)]).toEqual([args, people]);
    }
  });

  // @shows AS-19.8
  test('finds the events of one authorization, with or without a type', async () => {
    const { refresh_token: token } = await authorize();
    const [issued] = (await list('--type=tokens_issued', '--limit=1')).items;
    await authorize();
    await revoke(token);
    const about = ['--authorization', issued?.authorization_id ?? ''];
    const typesOf = ({ items }: Page) => items.map(({ type }) => type);
    expect(typesOf(await list(...about))).toEqual([
      'family_revoked',
      'tokens_issued',
      'consent_granted',
    ]);
    expect(typesOf(await list(...about, '--type=tokens_issued'))).toEqual(['tokens_issued']);
    expect(typesOf(await list(...about, '--client=another'))).toEqual([]);
    expect(typesOf(await list('--authorization', 'nobody’s'))).toEqual([]);
  });

  // @shows AS-19.8
  test('escapes terminal control and bidirectional characters without losing them', async () => {
    const odd = '\u001b[2J\u009b31m\u202e\u2028\u{e0001}"\n';
    await tell({
      type: 'tool_called',
      tool: odd,
      clientId: 'odd',
      person: person(odd),
      outcome: 'failed',
      duration: 1,
    });
    for (const args of [['--json'], ['--json-lines'], []]) {
      const { stdout } = await run('oauth:audit', '--client=odd', ...args);
      expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    }
    expect((await list('--client=odd')).items).toMatchObject([
      { details: { tool: odd }, person: person(odd) },
    ]);
    expect(await readFile(file(), 'utf8')).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  });

  // @shows HOST-4.7
  test('accepts the same durations for --since and --until: 30m is thirty minutes, 2w two weeks', async () => {
    const [minute, hour, day] = [60, 3600, 86_400];
    const ages = [20, 20 * minute, 40 * minute, 11 * hour, 13 * hour, 9 * day, 13 * day, 15 * day];
    const began = Date.now();
    for (const age of ages.toReversed()) {
      time = began - age * 1000;
      await tell({ type: 'consent_denied', clientId: 'ages', person: person(String(age)) });
    }
    time = null;
    const agesOf = async (...args: string[]) =>
      (await list('--client=ages', ...args)).items.map((item) => Number(item.person?.id));
    for (const [span, count] of [
      ['19s', 0],
      ['30m', 2],
      ['41m', 3],
      ['12h', 4],
      ['10d', 6],
      ['2w', 7],
      ['99999d', 8],
    ] as const) {
      expect([span, await agesOf(`--since=${span}`)]).toEqual([span, ages.slice(0, count)]);
      expect([span, await agesOf(`--until=${span}`)]).toEqual([span, ages.slice(count)]);
    }
  });

  // @shows AS-19.8
  test('reads some thousands of events per page for two filters that rarely match together', async () => {
    const { database } = portal.application;
    const now = Date.now();
    const idOf = (count: number) =>
      (now + count).toString(16).padStart(12, '0') + count.toString(16).padStart(20, '0');
    const inserted = Array.from({ length: 7000 }, (_, count) => [
      idOf(count),
      now + count,
      count % 2 === 0 || count === 1 ? 'consent_denied' : 'client_changed',
      count % 2 === 1 || count === 0 ? 'crowded' : 'another',
    ]);
    for (let from = 0; from < inserted.length; from += 1000) {
      const part = inserted.slice(from, from + 1000);
      await database.execute(
        `INSERT INTO oauth_audit (id, happened_at, type, client_id, details) VALUES ${part.map(() => "(?, ?, ?, ?, '{}')").join()}`,
        part.flat(),
      );
    }
    const both = ['--client=crowded', '--type=consent_denied', '--limit=1'];
    const found: string[] = [];
    let pages = 0;
    for (
      let next: string | null = null, isFirst = true;
      isFirst || next !== null;
      isFirst = false
    ) {
      const page: Page = await list(...both, ...(next === null ? [] : ['--after', next]));
      found.push(...page.items.map(({ id }) => id));
      ({ next } = page);
      pages += 1;
    }
    expect(found).toEqual([idOf(1), idOf(0)]);
    expect(pages).toBeGreaterThan(2);
    expect(pages).toBeLessThan(6);
    // With `--json-lines`, the output is complete: it continues after a page of a thousand, and
    // after empty pages.
    const linesOf = async (...args: string[]) =>
      (await run('oauth:audit', '--json-lines', ...args)).stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Item).id);
    const wanted = inserted.filter(([, , , id]) => id === 'crowded').map(([id]) => id);
    expect(await linesOf('--client=crowded')).toEqual(wanted.toReversed());
    expect(await linesOf('--client=crowded', '--type=consent_denied')).toEqual(found);
    // Events of a rare type are found immediately.
    expect((await list('--client=pages', '--type=tool_called')).items).toHaveLength(5);
  });
});

describe('a person who is erased from the audit log', () => {
  // @shows AS-19.9
  test('gets a pseudonym without an address in all related events, in batches', async () => {
    const [ada, like] = [person('ada'), person('ada ')];
    const about = { clientId: client.id, person: ada } as const;
    for (let count = 0; count < 5; count += 1) await tell({ type: 'consent_denied', ...about });
    await tell(
      { type: 'consent_denied', clientId: client.id, person: like },
      { type: 'person_revoked', person: like, authorizations: 1, by: ada },
      { type: 'client_authentication_failed', clientId: client.id, address: '192.0.2.1' },
    );
    const { audit } = portal.server;
    const counts: number[] = [];
    do counts.push(await audit.pseudonymise(ada, 'nobody-1', 2));
    while (counts.at(-1) !== 0);
    expect(counts).toEqual([3, 2, 1, 0]);
    for (const batch of [0, -1, 1.5, '1' as unknown as number])
      await expect(audit.pseudonymise(ada, 'erased-1', batch)).rejects.toThrow(RangeError);
    expect((await list('--person', 'erased', 'ada')).items).toEqual([]);
    expect((await list('--person', 'erased', 'nobody-1')).items).toHaveLength(5);
    expect((await list('--person', 'erased', 'ada ')).items).toMatchObject([
      { type: 'person_revoked', by: person('nobody-1'), person: like },
      { type: 'consent_denied', person: like },
    ]);
    const kept = (await rows()).filter((row) => row['user_id'] === 'ada' || row['by_id'] === 'ada');
    expect(kept).toEqual([]);
  });

  // @shows AS-19.9
  test('is not identifiable by an address or a request id', async () => {
    await authorize();
    const [newest] = (await list('--type=tokens_issued', '--limit=1')).items;
    const known = newest?.person ?? person('unknown');
    while ((await portal.server.audit.pseudonymise(known, 'nobody-2')) > 0);
    const { items } = await list('--person', known.provider, 'nobody-2', '--limit=1000');
    expect(items.length).toBeGreaterThan(10);
    expect(items.filter((item) => item.address !== null || item.request_id !== null)).toEqual([]);
    expect((await list('--person', known.provider, known.id)).items).toEqual([]);
  });

  const person = (id: string) => ({ provider: 'erased', id });
});

test('without the settings, no event is stored, streamed or removed, and oauth:audit reports this', async () => {
  const plain = await startPortal({
    databaseUrl: portal.env['DATABASE_URL'] ?? '',
    signingKey: false,
  });
  try {
    const before = (await rows()).length;
    await registerClient(plain);
    expect((await rows()).length).toBe(before);
    expect(await plain.server.prune()).not.toHaveProperty('auditEvents');
    const of = (...args: string[]) =>
      porticoHere(['oauth:audit', ...args], { cwd: folder, env: plain.env });
    const { stdout, stderr } = await of('--client=nobody');
    expect([stdout, stderr]).toEqual([
      '',
      'No audit events are stored, because oauth_server:audit:keep is off.\n',
    ]);
    const three = await of('--json-lines', '--limit=3');
    expect(three.stdout.trim().split('\n')).toHaveLength(3);
    expect(three.stderr).toMatch(/^Continue with --after [0-9a-f]{32}\n$/);
  } finally {
    await plain.close();
  }
});

// @shows AS-19.10
test('oauth:prune removes only events older than retention_days', async () => {
  const DAY = 86_400;
  const config = { oauth_server: { audit: { keep: true, retention_days: 30 } } };
  const ago = { days: 40 };
  const clock = () => Date.now() - ago.days * DAY * 1000;
  const old = await startPortal({ clock, config, signingKey: false });
  try {
    const env = { ...old.env, PORTAL_CONFIG: JSON.stringify(config) };
    const of = (...args: string[]) => porticoHere(args, { cwd: folder, env });
    const event = { type: 'secret_rotated', clientId: 'x', previousExpiresAt: null } as const;
    await Promise.all(Array.from({ length: 1200 }, () => old.server.audit(event)));
    ago.days = 29;
    await registerClient(old);
    const pruned = JSON.parse((await of('oauth:prune', '--json')).stdout) as Record<string, number>;
    expect(pruned['audit_events']).toBe(1200);
    const kept = JSON.parse((await of('oauth:audit', '--json')).stdout) as Page;
    expect(kept.items.map(({ type }) => type)).toEqual(['client_registered']);
    expect((await of('oauth:prune')).stdout).toContain('Removed 0 audit events');
  } finally {
    await old.close();
  }
});

// @shows AS-19.6
test('the audit event of a tool call has its request, client and person', async () => {
  const config = { oauth_server: { audit: { keep: true } }, mcp: { audit: true } };
  const assistant = await startAssistant({ config, databaseServer: null });
  try {
    const response = await fetch(assistant.resource, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${await assistant.serviceToken()}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: await aTool(assistant.resource, await assistant.serviceToken()),
          arguments: {},
        },
      }),
    });
    const { items } = await assistant.server.audit.list({ type: 'tool_called' });
    expect(items).toMatchObject([
      {
        clientId: assistant.service.id,
        address: '127.0.0.1',
        requestId: response.headers.get('x-request-id'),
      },
    ]);
  } finally {
    await assistant.close();
  }
});

async function aTool(url: string, bearer: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${bearer}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  const { result } = (await response.json()) as {
    readonly result: { readonly tools: readonly { readonly name: string }[] };
  };
  return result.tools[0]?.name ?? '';
}
