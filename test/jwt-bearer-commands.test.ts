// @engines sqlite: the database makes no difference
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import {
  accountOf,
  assertionFor,
  IDP,
  present,
  startOrganization,
  type IdentityProvider,
  type Organization,
} from './support/identity-provider.ts';
import { ADA, errorOf, GRACE, type RunningPortal, type TestClient } from './support/portal.ts';

/** The commands of an operator for access that an organization gives. */

let organization: Organization;
let idp: IdentityProvider;
let portal: RunningPortal;
let assistant: TestClient;
let ada: readonly string[];
let grace: readonly string[];

beforeAll(async () => {
  organization = await startOrganization();
  ({ idp, portal, assistant } = organization);
  const option = async (email: string) => {
    const { provider, id } = await accountOf(portal, email);
    return ['--person', provider, id];
  };
  [ada, grace] = [await option(ADA), await option(GRACE)];
});
afterAll(() => organization.close());

const eventsFile = () => path.join(portal.env['STORAGE_DIR'] ?? '', 'events.jsonl');

const runWith = (config: object, args: readonly string[]) =>
  porticoHere(args, {
    cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
    env: {
      ...portal.env,
      PUBLIC_URL: portal.url,
      PORTAL_CONFIG: JSON.stringify(config),
      EVENTS_TO: eventsFile(),
    },
  });
const run = (...args: readonly string[]) => runWith(idp.config, args);

/** Expects this text on standard output, and success. */
async function expectSaid(args: readonly string[], said: string): Promise<void> {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(said);
}

/** Expects this reason on standard error, and nothing on standard output. */
async function expectRefused(args: readonly string[], reason: string): Promise<void> {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(reason);
}

const linked = async () => {
  const { stdout } = await run('oauth:link:list', '--json');
  const { items } = JSON.parse(stdout) as { readonly items: readonly { subject: string }[] };
  return items.map(({ subject }) => subject).toSorted();
};

const ask = (sub: string) =>
  present(portal, assistant, assertionFor(portal, assistant, idp.key, { sub }));

describe('oauth:link', () => {
  // @shows AS-49.4
  test('creates a link that works and is listed, until it is removed', async () => {
    expect((await run('oauth:link:list')).stderr).toContain('There is no link');
    await expectSaid(['oauth:link:create', IDP, 'made', ...ada], 'Linked to "accounts"');
    expect((await ask('made')).status).toBe(200);
    await expectSaid(['oauth:link:list'], `${IDP}  "made"  "accounts"`);
    expect(await linked()).toEqual(['made']);
    await expectSaid(['oauth:link:remove', IDP, 'made'], 'Removed the link.');
    expect(await linked()).toEqual([]);
    expect(await errorOf(await ask('made'))).toBe('invalid_grant');
  });

  // @shows AS-49.4
  test('can repeat a link for the same account, and for no other', async () => {
    await run('oauth:link:create', IDP, 'again', ...ada);
    await expectSaid(['oauth:link:create', IDP, 'again', ...ada], 'Linked to');
    await expectRefused(['oauth:link:create', IDP, 'again', ...grace], 'linked to another account');
    await run('oauth:link:remove', IDP, 'again');
    await expectRefused(['oauth:link:remove', IDP, 'again'], 'No account is linked');
  });

  // @shows AS-49.4
  test.each<[what: string, args: () => readonly string[], reason: string]>([
    [
      'an issuer that is not trusted',
      () => ['oauth:link:create', 'https://other.example', 'x', ...ada],
      'not in oauth_server:trusted_issuers',
    ],
    [
      'an issuer with a slash more',
      () => ['oauth:link:create', `${IDP}/`, 'x', ...ada],
      'not in oauth_server:trusted_issuers',
    ],
    ['an empty issuer', () => ['oauth:link:create', '', 'x', ...ada], '1 to 255 characters'],
    ['an empty subject', () => ['oauth:link:create', IDP, '', ...ada], '1 to 255 characters'],
    [
      'a long subject',
      () => ['oauth:link:create', IDP, 'x'.repeat(256), ...ada],
      '1 to 255 characters',
    ],
    [
      'an unknown account',
      () => ['oauth:link:create', IDP, 'x', '--person', 'accounts', 'unknown'],
      'No active account',
    ],
    [
      'an unknown provider',
      () => ['oauth:link:create', IDP, 'x', '--person', 'unknown', ada[2] ?? ''],
      'No active account',
    ],
    [
      'a person without an id',
      () => ['oauth:link:create', IDP, 'x', '--person', 'accounts'],
      '--person needs two values',
    ],
    ['no person', () => ['oauth:link:create', IDP, 'x'], '--person'],
    ['no subject', () => ['oauth:link:create', IDP, ...ada], 'subject'],
    [
      'the removal of an unknown subject',
      () => ['oauth:link:remove', IDP, 'x'],
      'No account is linked',
    ],
    ['the limit 0', () => ['oauth:link:list', '--limit', '0'], '1 to 1000'],
    ['a limit that is not a number', () => ['oauth:link:list', '--limit', 'all'], '1 to 1000'],
    ['a malformed cursor', () => ['oauth:link:list', '--after', '; --'], 'Invalid cursor'],
  ])('refuses %s, and changes nothing', async (_, args, reason) => {
    const before = await linked();
    await expectRefused(args(), reason);
    expect(await linked()).toEqual(before);
  });

  test('lists each link once over all pages', async () => {
    const subjects = ['page 1', 'page 2', 'page 3'];
    for (const subject of subjects) await run('oauth:link:create', IDP, subject, ...grace);
    const first = await run('oauth:link:list', '--limit', '2');
    const cursor = /--after (\S+)/.exec(first.stderr)?.[1] ?? '';
    const second = await run('oauth:link:list', '--limit', '2', '--after', cursor);
    const found = `${first.stdout}${second.stdout}`.match(/"page \d"/g)?.toSorted();
    expect(found).toEqual(subjects.map((subject) => `"${subject}"`));
    expect(second.stderr).toBe('');
    for (const subject of subjects) await run('oauth:link:remove', IDP, subject);
  });
});

describe('oauth:authorization:allow', () => {
  // @shows AS-49.6
  test('allows ended access of one client; the second time, there is nothing to allow', async () => {
    await run('oauth:link:create', IDP, 'ended', ...ada);
    expect((await ask('ended')).status).toBe(200);
    const { items } = await portal.server.access.list({ clientId: assistant.id });
    await run('oauth:authorization:revoke', ...items.map(({ id }) => id));
    expect(await errorOf(await ask('ended'))).toBe('invalid_grant');
    await expectSaid(['oauth:authorization:allow', assistant.id, ...ada], 'Allowed.');
    expect((await ask('ended')).status).toBe(200);
    await expectRefused(
      ['oauth:authorization:allow', assistant.id, ...ada],
      'access was ended for this person and client',
    );
    await run('oauth:link:remove', IDP, 'ended');
  });

  // @shows AS-49.6
  test('allows all clients of a person again after all access was ended', async () => {
    await run('oauth:link:create', IDP, 'all', ...grace);
    await run('oauth:person:revoke', ...grace.slice(1));
    expect(await errorOf(await ask('all'))).toBe('invalid_grant');
    await expectSaid(['oauth:authorization:allow', ...grace], 'Allowed.');
    expect((await ask('all')).status).toBe(200);
    await expectRefused(['oauth:authorization:allow', ...grace], 'was not ended');
    await run('oauth:link:remove', IDP, 'all');
  });

  // @shows AS-49.6
  test.each<[what: string, args: () => readonly string[], reason: string]>([
    ['an unknown client', () => ['unknown', ...ada], 'access was ended for this person and client'],
    [
      'an unknown person',
      () => [assistant.id, '--person', 'accounts', 'x'],
      'access was ended for this person and client',
    ],
    ['a person whose access was not ended', () => [...ada], 'was not ended'],
    ['no person', () => [assistant.id], '--person'],
  ])('refuses %s', async (_, args, reason) => {
    await expectRefused(['oauth:authorization:allow', ...args()], reason);
  });
});

// @shows AS-49.9
test.each([
  [['oauth:link:list']],
  [['oauth:link:create', IDP, 'x', '--person', 'accounts', 'x']],
  [['oauth:link:remove', IDP, 'x']],
  [['oauth:authorization:allow', '--person', 'accounts', 'x']],
])('%j prints which setting it needs if the grant is off', async (args) => {
  const { code, stderr } = await runWith({}, args);
  expect(code).toBe(1);
  expect(stderr).toContain('oauth_server:jwt_bearer_grant is off; set it to true first');
});

// @shows AS-19.5, AS-49.6
test('linking, unlinking and allowing write audit events without the subject', async () => {
  const [, provider, id] = ada;
  const before = (await readFile(eventsFile(), 'utf8')).length;
  await run('oauth:link:create', IDP, 'of an event', ...ada);
  await run('oauth:link:create', IDP, 'of an event', ...ada);
  await run('oauth:link:create', IDP, 'of an event', ...grace);
  expect((await ask('of an event')).status).toBe(200);
  await run('oauth:link:remove', IDP, 'of an event');
  await run('oauth:person:revoke', ...ada.slice(1));
  await run('oauth:authorization:allow', ...ada);
  const told = (await readFile(eventsFile(), 'utf8')).slice(before);
  const events = told
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const about = { person: { provider, id }, by: 'console' };
  expect(events).toMatchObject([
    { type: 'subject_linked', issuer: IDP, tenant: null, ...about },
    { type: 'subject_unlinked', issuer: IDP, tenant: null, ...about },
    { type: 'family_revoked', clientId: assistant.id, reason: 'operator', ...about },
    { type: 'person_revoked', ...about },
    { type: 'access_allowed', clientId: null, ...about },
  ]);
  expect(told).not.toContain('of an event');
});
