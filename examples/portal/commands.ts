import type { AddCommands, ConsoleContext, DatabaseAccount, DatabaseAccounts } from 'portico/host';
import { accountsOf } from './people.ts';

/** Console commands with which to watch a token stop working. */
export const addAccountCommands: AddCommands = (program, context) => {
  program
    .command('account:list')
    .description('list the accounts with their permissions')
    .option('--json', 'print JSON, and nothing else, on standard output')
    .action(async (options: { json?: boolean }) => {
      const accounts = accountsOf(await context.application());
      const listed = await Promise.all(
        (await accounts.list()).map(async ({ id, email, name, active }) => ({
          email,
          name,
          active,
          permissions: await accounts.permissions(id),
        })),
      );
      if (options.json === true) return context.printJson(listed);
      for (const { email, name, active, permissions } of listed) {
        context.print(`${email}  ${name}  ${active ? 'active' : 'suspended'}  ${permissions.join(', ')}`);
      }
    });

  program
    .command('account:suspend')
    .description('suspend an account: from now on it can do nothing, here or through any application')
    .argument('<email>')
    .action(async (email: string) => {
      const { accounts, account } = await open(context, email);
      await accounts.setActive(account.id, false);
      context.print(`${account.email} is suspended.`);
    });

  program
    .command('account:restore')
    .description('restore a suspended account')
    .argument('<email>')
    .action(async (email: string) => {
      const { accounts, account } = await open(context, email);
      await accounts.setActive(account.id, true);
      context.print(`${account.email} is active.`);
    });

  program
    .command('account:grant')
    .description('give an account a permission')
    .argument('<email>')
    .argument('<permission>')
    .action(async (email: string, permission: string) => {
      const { accounts, account } = await open(context, email);
      await accounts.grant(account.id, permission);
      context.print(`${account.email} holds ${permission}.`);
    });

  program
    .command('account:deny')
    .description('take a permission from an account')
    .argument('<email>')
    .argument('<permission>')
    .action(async (email: string, permission: string) => {
      const { accounts, account } = await open(context, email);
      await accounts.deny(account.id, permission);
      context.print(`${account.email} does not hold ${permission}.`);
    });
};

async function open(
  context: ConsoleContext,
  email: string,
): Promise<{ accounts: DatabaseAccounts; account: DatabaseAccount }> {
  const accounts = accountsOf(await context.application());
  const account = await accounts.findByEmail(email);
  return account === null
    ? context.fail(`No account has the email ${email}; see account:list`)
    : { accounts, account };
}
