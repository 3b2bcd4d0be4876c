import type { Migration } from '@portico/sql';

/** Creates the tables that `databaseAccounts()` uses. */
export const accountsMigration: Migration = {
  name: 'host_0002_accounts',
  async up({ types: { identifier, time, flag, tableOptions }, change }) {
    await change(`CREATE TABLE host_accounts (
      provider ${identifier} NOT NULL,
      id ${identifier} NOT NULL,
      email ${identifier} NOT NULL,
      email_verified ${flag} NOT NULL,
      name ${identifier} NOT NULL,
      password_hash ${identifier} NOT NULL,
      active ${flag} NOT NULL,
      created_at ${time} NOT NULL,
      PRIMARY KEY (provider, id),
      UNIQUE (provider, email)
    ) ${tableOptions}`);
    await change(`CREATE TABLE host_account_permissions (
      provider ${identifier} NOT NULL,
      account_id ${identifier} NOT NULL,
      permission ${identifier} NOT NULL,
      PRIMARY KEY (provider, account_id, permission)
    ) ${tableOptions}`);
  },
};
