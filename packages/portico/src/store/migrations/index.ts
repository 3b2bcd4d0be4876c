import type { Migration } from '@portico/sql';
import { initialSchema } from './0001-initial.ts';

/**
 * The schema migrations of every authorization server. `db:migrate up` applies them. For those of
 * optional features, use `migrationsWith`.
 *
 * @example
 * await migrate(database, oauthServerMigrations);
 */
export const oauthServerMigrations: readonly Migration[] = [initialSchema];
