import { databaseAccounts, type Application, type DatabaseAccounts } from '@portico/kit';

interface Person {
  readonly email: string;
  readonly name: string;
  readonly permissions: readonly string[];
}

const PEOPLE: readonly Person[] = [
  { email: 'ada@example.com', name: 'Ada Lovelace', permissions: ['notes:read', 'notes.edit'] },
  { email: 'grace@example.com', name: 'Grace Hopper', permissions: ['notes:read'] },
];

/** Returns the accounts of the portal. The commands and the seed use them. */
export function accountsOf({ database, passwordHasher }: Application): DatabaseAccounts {
  return databaseAccounts({ database, passwordHasher });
}

/** Creates the people who do not exist yet, and leaves existing people unchanged. */
export async function seedPeople(application: Application, password: string): Promise<void> {
  const accounts = accountsOf(application);
  for (const { email, name, permissions } of PEOPLE) {
    if ((await accounts.findByEmail(email)) !== null) continue;
    const { id } = await accounts.create({ email, name, password, emailVerified: true });
    for (const permission of permissions) await accounts.grant(id, permission);
  }
}
