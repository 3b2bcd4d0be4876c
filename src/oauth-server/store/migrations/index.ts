import type { Migration } from '../../../host/contracts.ts';
import { initialSchema } from './oauth-server-0001-initial.ts';

/** The schema of the authorization server, step by step; run by `db:migrate up`. */
export const oauthServerMigrations: readonly Migration[] = [initialSchema];
