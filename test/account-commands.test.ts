// @engines sqlite: other tests check what the commands write
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApplication } from '@portico/kit';
import portal from '../examples/portal/app.ts';
import { porticoHere, ROOT, type ConsoleResult } from './support/console.ts';

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

/** Creates an account, and returns its email address. */
async function create(name: string, ...options: string[]): Promise<string> {
  const email = `${name}@example.com`;
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
  // @shows HOST-4.3
  test('account:create creates an account once, and prints the generated password', async () => {
    const { code, stdout, stderr } = await run('account:create', 'new@example.com', 'A New One');
    const [, password = ''] = /^password: ([\w-]{16})$/m.exec(stdout) ?? [];
    expect([code, stdout, stderr]).toEqual([
      0,
      `Created the account new@example.com.\npassword: ${password}\n`,
      '',
    ]);
    expect(await canSignIn('NEW@example.com', password)).toBe(true);
    expectRefusal(
      await run('account:create', 'NEW@example.com', 'Again'),
      'An account with the email NEW@example.com already exists',
    );
  });

  test('account:create with --password prints no password', async () => {
    expect(await run('account:create', 'own@example.com', 'Own', '--password=own secret')).toEqual({
      code: 0,
      stdout: 'Created the account own@example.com.\n',
      stderr: '',
    });
    expect(await canSignIn('own@example.com', 'own secret')).toBe(true);
  });

  test('account:create refuses an empty password', async () => {
    expectRefusal(
      await run('account:create', 'empty@example.com', 'Empty', '--password='),
      '--password is empty; to create a random password, omit the option',
    );
    expect((await run('account:list')).stdout).not.toContain('empty@example.com');
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
    expect(misspelt.stdout).toBe('granted@example.com now has the permission notes.raed.\n');
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
