import type { Migration } from '@portico/sql';
import { initialSchema } from './0001-initial.ts';

/** The steps of the authorization server's schema. `db:migrate up` applies them. */
export const oauthServerMigrations: readonly Migration[] = [initialSchema];
