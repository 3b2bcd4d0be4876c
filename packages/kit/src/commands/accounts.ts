import { randomBytes } from 'node:crypto';
import type { AddCommands, Application, ConfigMap, ConsoleContext } from 'portico';
import { orFail, quotedPublic } from 'portico/extension';
import type { Application as KitApplication } from '../contracts.ts';
import {
  databaseAccounts,
  type DatabaseAccount,
  type DatabaseAccounts,
  AccountError,
} from '../accounts/database-accounts.ts';

/**
 * Adds the commands `account:…`, which manage the accounts of an application that uses
 * `databaseAccounts` with its default name. They hash passwords with argon2id.
 *
 * @example
 * export default defineApplication({ config, plugins, accounts, commands: accountCommands });
 */
export const accountCommands: AddCommands = (program, context) => {
  for (const add of [addCreate, addList, addSuspend, addRestore, addGrant, addDeny])
    add(program, context);
};

const addCreate: AddCommands = (program, context) => {
  program
    .command('account:create')
    .description(
      'create an account. Without --password, the command creates a random password and ' +
        'prints it (shown only once)',
    )
    .argument('<email>')
    .argument('<name>')
    .option('--password <password>', 'the password of the account (default: a random password)')
    .action(async (email: string, name: string, options: { password?: string }) => {
      const accounts = openAccounts(await context.application());
      if ((await accounts.findByEmail(email)) !== null)
        context.fail(`An account with the email ${email} already exists`);
      if (options.password === '')
        context.fail('--password is empty; to create a random password, omit the option');
      const password = options.password ?? randomBytes(12).toString('base64url');
      await orFail(context, accounts.create({ email, name, password }), [AccountError]);
      context.print(`Created the account ${email}.`);
      if (options.password === undefined) context.print(`password: ${password}`);
    });
};

const addList: AddCommands = (program, context) => {
  program
    .command('account:list')
    .description('list all accounts and their permissions')
    .option('--json', 'print only JSON to standard output')
    .action(async (options: { json?: boolean }) => {
      const accounts = openAccounts(await context.application());
      // Read all permissions together. One query for each account takes too long with many
      // accounts: the queries that wait longest for a connection fail.
      const held = await accounts.permissionsOfAll();
      const listed = (await accounts.list()).map(({ id, email, name, active }) => ({
        id,
        email,
        name,
        active,
        permissions: held.get(id) ?? [],
      }));
      if (options.json === true) return context.printJson(listed);
      for (const { email, name, active, permissions } of listed) {
        const state = active ? 'active' : 'suspended';
        context.print(`${shown(email)}  ${shown(name)}  ${state}  ${permissions.join(', ')}`);
      }
    });
};

/**
 * Quotes and escapes a text that contains invisible characters. People may choose their names, and
 * a name must not move the terminal's cursor or look like another line.
 */
function shown(text: string): string {
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? quotedPublic(text) : text;
}

const addSuspend: AddCommands = (program, context) => {
  program
    .command('account:suspend')
    .description(
      'suspend an account: the person cannot sign in, and applications lose their access',
    )
    .argument('<email>')
    .action(async (email: string) => {
      const { accounts, account } = await open(context, email);
      await accounts.setActive(account.id, false);
      // Only applications that use the kit have sessions that this command can end.
      const application = (await context.application()) as Partial<KitApplication>;
      await application.endSessions?.(account.reference);
      context.print(`Suspended ${account.email}.`);
    });
};

const addRestore: AddCommands = (program, context) => {
  program
    .command('account:restore')
    .description('restore a suspended account')
    .argument('<email>')
    .action(async (email: string) => {
      const { accounts, account } = await open(context, email);
      await accounts.setActive(account.id, true);
      context.print(`Restored ${account.email}.`);
    });
};

const addGrant: AddCommands = (program, context) => {
  program
    .command('account:grant')
    .description(
      'give a permission to an account. The permission that a scope requires can have a ' +
        'different name than the scope',
    )
    .argument('<email>')
    .argument('<permission>')
    .action(async (email: string, permission: string) => {
      const { accounts, account } = await open(context, email);
      await orFail(context, accounts.grant(account.id, permission), [AccountError]);
      const warning = unnamed(permission, await context.application());
      if (warning !== null) context.note(`Warning: ${warning}`);
      context.print(`${account.email} now has the permission ${permission}.`);
    });
};

const addDeny: AddCommands = (program, context) => {
  program
    .command('account:deny')
    .description('remove a permission from an account')
    .argument('<email>')
    .argument('<permission>')
    .action(async (email: string, permission: string) => {
      const { accounts, account } = await open(context, email);
      const held = await accounts.permissions(account.id);
      if (!held.includes(permission)) {
        context.fail(
          `${account.email} does not have the permission ${permission}; its ` +
            `permissions: ${held.join(', ') || 'none'}`,
        );
      }
      await accounts.deny(account.id, permission);
      context.print(`${account.email} no longer has the permission ${permission}.`);
    });
};

/**
 * Returns a warning if the configuration does not mention the permission, which may be misspelled.
 * Otherwise, returns null. Also returns null if the application has no authorization server.
 */
function unnamed(permission: string, { config }: Application): string | null {
  const { scopes, admin_permission: administrator } = (config['oauth_server'] ?? {}) as {
    readonly scopes?: ConfigMap;
    readonly admin_permission?: string;
  };
  if (scopes === undefined) return null;
  const ofScopes = getPermissions(scopes);
  const named = administrator === undefined ? ofScopes : [...ofScopes, administrator];
  if (named.includes(permission)) return null;
  const all = named.join(', ') || 'none';
  return administrator === undefined
    ? `no scope requires the permission ${permission}; the scopes require these permissions: ${all}`
    : `no scope requires the permission ${permission}, and it is not ` +
        `oauth_server:admin_permission; known permissions: ${all}`;
}

/** Returns the permissions that the configured scopes require. */
function getPermissions(scopes: ConfigMap): readonly string[] {
  return Object.entries(scopes).map(([name, definition]) => {
    const { permission = name } = (typeof definition === 'object' ? definition : {}) as {
      permission?: string;
    };
    return permission;
  });
}

function openAccounts({ database, passwordHasher }: Application): DatabaseAccounts {
  return databaseAccounts({ database, passwordHasher });
}

async function open(
  context: ConsoleContext,
  email: string,
): Promise<{ accounts: DatabaseAccounts; account: DatabaseAccount }> {
  const accounts = openAccounts(await context.application());
  const account = await accounts.findByEmail(email);
  return account === null
    ? context.fail(`No account has the email ${email}; see account:list`)
    : { accounts, account };
}
