import type { Migration } from '@portico/sql';
import { initialSchema } from './0001-initial.ts';

/** The authorization server's schema migrations. `db:migrate up` applies them. */
export const oauthServerMigrations: readonly Migration[] = [initialSchema];
