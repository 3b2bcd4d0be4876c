import { databaseAccounts, type Application } from '@portico/kit';
import type { AddCommands } from 'portico';

const ADA = { email: 'ada@example.com', name: 'Ada Lovelace' };
const PERMISSION = 'mcp:tools';

/**
 * Adds the command `seed`, which creates a person whose account can be linked. If she already
 * exists, the command changes nothing.
 */
export const addSeed: AddCommands = (program, context) => {
  program
    .command('seed')
    .description(
      `create ${ADA.email}, who may use personal tools (password: DEMO_PASSWORD, or portico)`,
    )
    .action(async () => {
      const application = await context.application();
      if (application.mode !== 'dev') context.fail('Only under APP_ENV=dev');
      await seed(application, application.env['DEMO_PASSWORD'] ?? 'portico');
      context.print(`Created the account ${ADA.email}.`);
    });
};

export async function seed(
  { database, passwordHasher }: Pick<Application, 'database' | 'passwordHasher'>,
  password: string,
): Promise<void> {
  const accounts = databaseAccounts({ database, passwordHasher });
  const account =
    (await accounts.findByEmail(ADA.email)) ??
    (await accounts.create({ ...ADA, password, emailVerified: true }));
  if (!(await accounts.holdsPermission(account.id, PERMISSION)))
    await accounts.grant(account.id, PERMISSION);
}
