import { OutOfRangeError } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../../console/commands/run-command.fixture.ts';
import { AccessError } from '../../errors.ts';
import { addJwtBearerCommands } from './commands.ts';
import type { Link, LinkPage } from './links.ts';

const IDP = 'https://idp.example';
const ADA = { provider: 'users', id: '4"2' };
const LINK: Link = {
  issuer: IDP,
  tenant: null,
  subject: 'a\nb',
  person: ADA,
  createdAt: Date.UTC(2026, 0, 1),
};

/** Runs a command. `asked` has what it asked of the access of organizations. */
async function run(args: readonly string[], answer: Partial<LinkPage> | Error = {}) {
  const asked: unknown[] = [];
  const method =
    (name: string) =>
    async (...given: unknown[]) => {
      asked.push([name, ...given]);
      if (answer instanceof Error) throw answer;
      return { items: [], next: null, ...answer };
    };
  const organizationAccess = Object.fromEntries(
    ['link', 'list', 'unlink', 'allow'].map((name) => [name, method(name)]),
  );
  return { ...(await runCommand(addJwtBearerCommands, { organizationAccess }, ...args)), asked };
}

const PERSON = ['--person', 'users', '4"2'];
const BY = { by: 'console' };

describe('the commands for organizations', () => {
  test('link a subject to an account', async () => {
    expect(await run(['oauth:link:create', IDP, 'sub', ...PERSON])).toEqual({
      printed: ['Linked to "users" "4\\u{22}2".'],
      noted: [],
      failed: null,
      asked: [['link', { issuer: IDP, subject: 'sub' }, ADA, BY]],
    });
  });

  test('remove a link', async () => {
    expect(await run(['oauth:link:remove', IDP, 'sub'])).toEqual({
      printed: ['Removed the link.'],
      noted: [],
      failed: null,
      asked: [['unlink', { issuer: IDP, subject: 'sub' }, BY]],
    });
  });

  test('allow access again, of one client or of all', async () => {
    const said = {
      printed: ['Allowed. The next assertion from the organization is accepted.'],
      noted: [],
      failed: null,
    };
    expect(await run(['oauth:authorization:allow', 'notes', ...PERSON])).toEqual({
      ...said,
      asked: [['allow', { person: ADA, clientId: 'notes' }, BY]],
    });
    expect(await run(['oauth:authorization:allow', ...PERSON])).toEqual({
      ...said,
      asked: [['allow', { person: ADA, clientId: null }, BY]],
    });
  });

  test.each([
    ['oauth:link:create', IDP, 'sub', ...PERSON],
    ['oauth:link:list'],
    ['oauth:link:remove', IDP, 'sub'],
    ['oauth:authorization:allow', ...PERSON],
  ])('fail with the reason: %s', async (...args) => {
    const refused = await run(args, new AccessError('There is no such link'));
    expect([refused.printed, refused.failed]).toEqual([[], 'There is no such link']);
    expect(await runCommand(addJwtBearerCommands, {}, ...args)).toMatchObject({
      printed: [],
      failed: 'oauth_server:jwt_bearer_grant is off; set it to true first',
    });
  });

  test.each([
    ['oauth:link:create', IDP, 'sub'],
    ['oauth:authorization:allow', 'notes'],
  ])('need two values for a person: %s', async (...args) => {
    expect((await run([...args, '--person', 'users'])).failed).toMatch(/^--person needs two/);
  });
});

describe('oauth:link:list', () => {
  test('has a line for each link', async () => {
    const items = [LINK, { ...LINK, tenant: 'ac"me' }];
    expect(await run(['oauth:link:list'], { items })).toEqual({
      printed: [
        `${IDP}  "a\\u{a}b"  "users" "4\\u{22}2"  since 2026-01-01T00:00:00.000Z\n` +
          `${IDP}  tenant "ac\\u{22}me"  "a\\u{a}b"  "users" "4\\u{22}2"  ` +
          'since 2026-01-01T00:00:00.000Z',
      ],
      noted: [],
      failed: null,
      asked: [['list', 50, undefined]],
    });
  });

  test('says how to continue, and that there is nothing', async () => {
    const more = await run(['oauth:link:list', '--limit=1', '--after=one'], {
      items: [LINK],
      next: 'two',
    });
    expect([more.noted, more.asked]).toEqual([
      ['There are more. Continue with --after two'],
      [['list', 1, 'one']],
    ]);
    expect(await run(['oauth:link:list'])).toMatchObject({
      printed: [],
      noted: ['There is no link; see oauth:link:create --help.'],
    });
    const refused = new OutOfRangeError('The limit must be from 1 to 1000');
    expect((await run(['oauth:link:list'], refused)).failed).toBe(refused.message);
  });

  test('prints JSON', async () => {
    const { createdAt: _, ...others } = LINK;
    const { printed, noted } = await run(['oauth:link:list', '--json'], {
      items: [LINK],
      next: 'two',
    });
    expect([printed, noted]).toEqual([
      [{ items: [{ ...others, created_at: '2026-01-01T00:00:00.000Z' }], next: 'two' }],
      [],
    ]);
  });
});
