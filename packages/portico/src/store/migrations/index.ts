import type { Migration } from '@portico/sql';
import { initialSchema } from './0001-initial.ts';

/** The schema of the authorization server, step by step; run by `db:migrate up`. */
export const oauthServerMigrations: readonly Migration[] = [initialSchema];
