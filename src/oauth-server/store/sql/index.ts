import type { Database } from '../../../sql/contract.ts';
import type { Store } from '../store.ts';
import { accessTokensTable } from './access-tokens.ts';
import { clientsTable } from './clients.ts';
import { consentRequestsTable } from './consent-requests.ts';
import { cookieKeysTable } from './cookie-keys.ts';
import { familiesTable, removeFamilies } from './families.ts';
import { removeWhere } from './statements.ts';
import { subjectsTable } from './subjects.ts';
import { waitingRequestsTable } from './waiting-requests.ts';

/** The store on a relational database. */
export function createSqlStore(database: Database): Store {
  return {
    ...clientsTable(database),
    ...subjectsTable(database),
    ...consentRequestsTable(database),
    ...waitingRequestsTable(database),
    ...cookieKeysTable(database),
    ...familiesTable(database),
    ...accessTokensTable(database),
    async prune(expiredBefore, limit) {
      const remove = (table: string, key: string) =>
        removeWhere(database, [table, key], ['expires_at', '< ?', [expiredBefore]], limit);
      const families = await removeFamilies(database, expiredBefore, limit);
      const consentRequests =
        (await remove('oauth_consent_requests', 'id_hash')) +
        (await remove('oauth_waiting_requests', 'secret_hash'));
      return { families: families.removed, consentRequests, more: families.more || consentRequests > 0 };
    },
  };
}
