import type { Database } from '../../../sql/contract.ts';
import type { Store } from '../store.ts';
import { accessTables } from './access.ts';
import { accessTokensTable } from './access-tokens.ts';
import { clientsTable, type Admits } from './clients.ts';
import { consentRequestsTable } from './consent-requests.ts';
import { cookieKeysTable } from './cookie-keys.ts';
import { documentClientsTable } from './document-clients.ts';
import { familiesTable, removeFamilies } from './families.ts';
import { keptAnswers } from './kept-answers.ts';
import { logosTable } from './logos.ts';
import { restoredTables } from './restored.ts';
import { removeWhere } from './statements.ts';
import { registrationsTable } from './registrations.ts';
import { singleUsesTable } from './single-uses.ts';
import { subjectsTable } from './subjects.ts';
import { waitingRequestsTable } from './waiting-requests.ts';

/** The store on a relational database. */
export function createSqlStore(database: Database, admits: Admits): Store {
  return {
    ...clientsTable(database, admits),
    ...logosTable(database),
    ...documentClientsTable(database),
    ...registrationsTable(database),
    ...singleUsesTable(database),
    ...subjectsTable(database),
    ...consentRequestsTable(database),
    ...waitingRequestsTable(database),
    ...cookieKeysTable(database),
    ...familiesTable(database),
    ...keptAnswers(database),
    ...accessTokensTable(database, admits),
    ...accessTables(database),
    ...restoredTables(database),
    async prune(expiredBefore, limit) {
      const remove = (table: string, key: string) =>
        removeWhere(database, [table, key], ['expires_at', '< ?', [expiredBefore]], limit);
      const families = await removeFamilies(database, ['prune_after', '< ?', [expiredBefore]], limit);
      const consentRequests =
        (await remove('oauth_consent_requests', 'id_hash')) +
        (await remove('oauth_waiting_requests', 'secret_hash'));
      return { families: families.removed, consentRequests, more: families.more || consentRequests > 0 };
    },
  };
}
