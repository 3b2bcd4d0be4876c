import { databaseAccounts } from '@portico/kit';
import type { AddCommands } from 'portico';

const ADA = { email: 'ada@example.com', name: 'Ada Lovelace' };

/**
 * Adds the command `seed`, which creates a person who may write. If she already exists, the command
 * changes nothing.
 */
export const addSeed: AddCommands = (program, context) => {
  program
    .command('seed')
    .description(
      `create ${ADA.email}, who may write articles (password: DEMO_PASSWORD, or portico)`,
    )
    .action(async () => {
      const { database, passwordHasher, env, mode } = await context.application();
      if (mode !== 'dev') context.fail('Only under APP_ENV=dev');
      const accounts = databaseAccounts({ database, passwordHasher });
      const password = env['DEMO_PASSWORD'] ?? 'portico';
      const account =
        (await accounts.findByEmail(ADA.email)) ??
        (await accounts.create({ ...ADA, password, emailVerified: true }));
      if (!(await accounts.holdsPermission(account.id, 'articles:write')))
        await accounts.grant(account.id, 'articles:write');
      context.print(`Created the account ${ADA.email}.`);
    });
};
