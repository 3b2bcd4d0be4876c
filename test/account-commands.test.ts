// @engines sqlite: other tests check what the commands write
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseAccounts, startApplication } from '@portico/kit';
import portal from '../examples/portal/app.ts';
import { installPortico, porticoHere, ROOT, type ConsoleResult } from './support/console.ts';

const PORTAL = path.join(ROOT, 'examples', 'portal');
let storage: string;

beforeAll(async () => {
  storage = await mkdtemp(path.join(tmpdir(), 'portico-accounts-'));
  await run('db:migrate', 'up');
});
afterAll(() => rm(storage, { recursive: true, force: true }));

function run(...args: string[]): Promise<ConsoleResult> {
  return porticoHere(args, { cwd: PORTAL, env: { STORAGE_DIR: storage } });
}

/** Starts the application whose accounts the commands manage. */
async function withApplication<T>(
  use: (application: Awaited<ReturnType<typeof startApplication>>) => Promise<T>,
): Promise<T> {
  const application = await startApplication(portal, { env: { STORAGE_DIR: storage } });
  try {
    return await use(application);
  } finally {
    await application.close();
  }
}

const canSignIn = (email: string, password: string) =>
  withApplication(async ({ accounts }) => (await accounts.authenticate(email, password)) !== null);

let addresses = 0;
/** Returns an email address that no account has. */
const unusedEmail = (name: string) => `${name}-${(addresses += 1)}@example.com`;

/** Creates an account, and returns its email address. */
async function create(name: string, ...options: string[]): Promise<string> {
  const email = unusedEmail(name);
  expect(await run('account:create', email, name, ...options)).toMatchObject({ code: 0 });
  return email;
}

/** One clear line on standard error, nothing on standard output, exit code 1. */
function expectRefusal({ code, stdout, stderr }: ConsoleResult, says: string): void {
  expect(stderr).toContain(says);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
}

describe('the account commands of the kit', () => {
  test('are in the help, together with serve', async () => {
    const { stdout } = await run('--help');
    for (const command of ['account:create', 'account:suspend', 'serve'])
      expect(stdout).toMatch(new RegExp(`^ +${command} `, 'm'));
  });

  // @shows HOST-4.3
  test('account:create creates an account once, and prints the generated password', async () => {
    const email = unusedEmail('new');
    const { code, stdout, stderr } = await run('account:create', email, 'A New One');
    const [, password = ''] = /^password: ([\w-]{16})$/m.exec(stdout) ?? [];
    expect([code, stdout, stderr]).toEqual([
      0,
      `Created the account ${email}.\npassword: ${password}\n`,
      '',
    ]);
    const sameEmail = email.toUpperCase();
    expect(await canSignIn(sameEmail, password)).toBe(true);
    expectRefusal(
      await run('account:create', sameEmail, 'Again'),
      `An account with the email ${sameEmail} already exists`,
    );
  });

  test('account:create with --password prints no password', async () => {
    const email = unusedEmail('own');
    expect(await run('account:create', email, 'Own', '--password=own secret')).toEqual({
      code: 0,
      stdout: `Created the account ${email}.\n`,
      stderr: '',
    });
    expect(await canSignIn(email, 'own secret')).toBe(true);
  });

  test('account:create refuses an empty password', async () => {
    const email = unusedEmail('empty');
    expectRefusal(
      await run('account:create', email, 'Empty', '--password='),
      '--password is empty; to create a random password, omit the option',
    );
    expect((await run('account:list')).stdout).not.toContain(email);
  });

  test('account:create and account:grant refuse texts that no database stores', async () => {
    const long = 'x'.repeat(256);
    for (const [what, ...about] of [
      ['email', long, 'Long'],
      ['name', unusedEmail('long'), long],
    ])
      expectRefusal(
        await run('account:create', ...about),
        `The account's ${what} must have at most 255 characters`,
      );
    expectRefusal(
      await run('account:grant', await create('long'), long),
      'The permission must have at most 255 characters',
    );
  });

  // @shows HOST-4.3
  test('account:suspend and account:restore suspend and restore the account', async () => {
    const email = await create('moving', '--password=secret');
    const expectState = async (state: string) => {
      const { stdout } = await run('account:list');
      expect(stdout.split('\n')).toContain(`${email}  moving  ${state}  `);
      expect(await canSignIn(email, 'secret')).toBe(state === 'active');
    };
    await expectState('active');
    expect((await run('account:suspend', email)).stdout).toBe(`Suspended ${email}.\n`);
    await expectState('suspended');
    expect((await run('account:restore', email)).stdout).toBe(`Restored ${email}.\n`);
    await expectState('active');
  });

  // @shows HOST-4.3
  test('account:suspend ends the sessions of the account, also after it is restored', async () => {
    const [email, other] = [
      await create('ending', '--password=a'),
      await create('staying', '--password=a'),
    ];
    await withApplication(async (application) => {
      const { publicUrl } = application;
      const signIn = async (identifier: string) => {
        const body = new URLSearchParams({ identifier, password: 'a' });
        const headers = { 'Sec-Fetch-Site': 'same-origin' };
        const url = `${publicUrl}/login`;
        const answer = await application.fetch(new Request(url, { method: 'POST', headers, body }));
        expect(answer.status).toBe(303);
        return answer.headers
          .getSetCookie()
          .map((cookie) => cookie.split(';')[0])
          .join('; ');
      };
      const [cookie, staying] = [await signIn(email), await signIn(other)];
      const statusWith = async (sent: string) =>
        (
          await application.fetch(
            new Request(`${publicUrl}/oauth/applications`, { headers: { cookie: sent } }),
          )
        ).status;
      expect([await statusWith(cookie), await statusWith(staying)]).toEqual([200, 200]);
      await run('account:suspend', email);
      await run('account:restore', email);
      expect([await statusWith(cookie), await statusWith(staying)]).toEqual([302, 200]);
    });
  });

  test('account:list --json prints the account ids that oauth:person:revoke needs', async () => {
    const email = await create('listed');
    for (const permission of ['notes:read', 'notes.edit'])
      await run('account:grant', email, permission);
    const { stdout } = await run('account:list', '--json');
    const listed = JSON.parse(stdout) as readonly { readonly email: string }[];
    expect(listed.filter((each) => each.email === email)).toEqual([
      {
        id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
        email,
        name: 'listed',
        active: true,
        permissions: ['notes.edit', 'notes:read'],
      },
    ]);
    expect((await run('account:list')).stdout.split('\n')).toContain(
      `${email}  listed  active  notes.edit, notes:read`,
    );
    expect((await run('oauth:person:revoke', 'accounts', email)).stderr).toContain(
      "For the ids of the kit's accounts, run account:list --json",
    );
  });

  // @shows HOST-4.3
  test("account:list shows a person's line breaks and control characters escaped", async () => {
    const name = 'Eve\u{1B}[2J\u{202E}\nroot@example.com  Root  active  all';
    await withApplication(async ({ database, passwordHasher }) => {
      const accounts = databaseAccounts({ database, passwordHasher });
      await accounts.create({ email: 'eve@example.com', name, password: 'a' });
    });
    const lines = (await run('account:list')).stdout.split('\n');
    expect(lines).toContain(
      String.raw`eve@example.com  "Eve\u{1b}[2J\u{202e}\u{a}root@example.com  Root  active  all"  active  `,
    );
    expect(lines.some((line) => line.startsWith('root@'))).toBe(false);
  });

  test.each([
    ['account:suspend'],
    ['account:restore'],
    ['account:grant', 'notes:read'],
    ['account:deny', 'notes:read'],
  ])('%s prints one clear line for an unknown e-mail address', async (command, ...more) => {
    expectRefusal(
      await run(command, 'unknown@example.com', ...more),
      'No account has the email unknown@example.com; see account:list',
    );
  });

  test.each([
    ['email', 'account:create'],
    ['name', 'account:create', 'ada@example.com'],
    ['email', 'account:suspend'],
    ['email', 'account:restore'],
    ['email', 'account:grant'],
    ['permission', 'account:grant', 'ada@example.com'],
    ['email', 'account:deny'],
    ['permission', 'account:deny', 'ada@example.com'],
  ])('name a missing argument: %s of %s', async (argument, ...args) => {
    expect(await run(...args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`missing required argument '${argument}'`) as string,
    });
  });

  // @shows HOST-4.3
  test('account:deny removes a permission, and refuses one that the account does not have', async () => {
    const email = await create('denied');
    for (const permission of ['notes:read', 'notes.edit'])
      await run('account:grant', email, permission);
    const has = 'does not have the permission';
    expectRefusal(
      await run('account:deny', email, 'notes:write'),
      `${email} ${has} notes:write; its permissions: notes.edit, notes:read`,
    );
    for (const permission of ['notes:read', 'notes.edit'])
      expect(await run('account:deny', email, permission)).toEqual({
        code: 0,
        stdout: `${email} no longer has the permission ${permission}.\n`,
        stderr: '',
      });
    expectRefusal(
      await run('account:deny', email, 'notes.edit'),
      `${email} ${has} notes.edit; its permissions: none`,
    );
  });
});

describe('account:grant', () => {
  // @shows HOST-4.2
  test('warns about a permission that no scope uses, and still grants it', async () => {
    const email = await create('granted');
    const misspelt = await run('account:grant', email, 'notes.raed');
    expect(misspelt.stdout).toBe(`${email} now has the permission notes.raed.\n`);
    expect(misspelt.stderr).toBe(
      'Warning: no scope requires the permission notes.raed; the scopes require these ' +
        'permissions: notes:read, ' +
        'notes.edit\n',
    );
    const right = await run('account:grant', email, 'notes.edit');
    expect({ code: right.code, stderr: right.stderr }).toEqual({ code: 0, stderr: '' });
  });

  // @shows HOST-4.2
  test('warns about unconfigured permissions, but not about the administrator permission', async () => {
    const email = await create('admin');
    const grant = (permission: string) =>
      porticoHere(['account:grant', email, permission], {
        cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
        env: {
          STORAGE_DIR: storage,
          PORTAL_CONFIG: JSON.stringify({
            oauth_server: { admin_permission: 'portal:administer' },
          }),
        },
      });
    const administrator = await grant('portal:administer');
    expect({ code: administrator.code, stderr: administrator.stderr }).toEqual({
      code: 0,
      stderr: '',
    });
    expect((await grant('portal:administrate')).stderr).toBe(
      'Warning: no scope requires the permission portal:administrate, and it is not ' +
        'oauth_server:admin_permission; known permissions: notes:read, notes.edit, ' +
        'portal:administer\n',
    );
  });
});

describe('the account commands, in a different application,', () => {
  /** Runs commands in a new application whose definition is this code. */
  async function inApplication(code: string) {
    const folder = await mkdtemp(path.join(storage, 'application-'));
    await installPortico(folder);
    await writeFile(path.join(folder, 'app.js'), code);
    const there = (...args: string[]) => porticoHere(args, { cwd: folder });
    expect(await there('db:migrate', 'up')).toMatchObject({ code: 0 });
    expect(await there('account:create', ADA, 'Ada', '--password=secret')).toMatchObject({
      code: 0,
    });
    return there;
  }
  const ADA = 'ada@example.com';
  const withKit = (plugins: string, settings: string) => `
    import { accountCommands, databaseAccounts, defineApplication } from '@portico/kit';
    import { oauthServer } from 'portico';
    export default defineApplication({
      directory: import.meta.dirname,
      config: { public_url: 'https://app.example', ${settings} },
      plugins: [${plugins}],
      accounts: (given) => [databaseAccounts(given)],
      commands: accountCommands,
    });`;

  // @shows HOST-4.2
  test.each([
    ['without an authorization server warn about no permission', '', '', ''],
    [
      'without scopes warn that no permission is known',
      'oauthServer()',
      "oauth_server: { name: 'App', scopes: {} }",
      'Warning: no scope requires the permission edit; the scopes require these permissions: none\n',
    ],
  ])('%s', async (_, plugins, settings, warning) => {
    const there = await inApplication(withKit(plugins, settings));
    expect(await there('account:grant', ADA, 'edit')).toEqual({
      code: 0,
      stdout: `${ADA} now has the permission edit.\n`,
      stderr: warning,
    });
  });

  test('without sessions of the kit suspend an account too', async () => {
    const there = await inApplication(`
      import { accountCommands, migrationsOf } from '@portico/kit';
      import { defineApplication } from 'portico';
      const config = { public_url: 'https://app.example' };
      const directory = import.meta.dirname;
      export default defineApplication({
        directory,
        config,
        migrations: migrationsOf({ directory, config, accounts: () => [] }),
        commands: accountCommands,
      });`);
    expect(await there('account:suspend', ADA)).toEqual({
      code: 0,
      stdout: `Suspended ${ADA}.\n`,
      stderr: '',
    });
    expect((await there('account:list')).stdout).toBe(`${ADA}  Ada  suspended  \n`);
  });
});
