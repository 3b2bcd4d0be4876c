import type { Database } from '../../../sql/contract.ts';
import type { ConsentOutcome, ConsentRequest } from '../requests.ts';
import type { Store } from '../store.ts';
import { exists, insertInto, words } from './statements.ts';

/** Authorization requests that a person was shown: `oauth_consent_requests`. */
export function consentRequestsTable(database: Database) {
  return {
    async insertConsentRequest(request) {
      const insert = database.execute(INSERT, [
        request.idHash,
        request.browserHash,
        request.clientId,
        consentParameters(request),
        request.audience,
        request.asked.person.provider,
        request.asked.person.id,
        request.asked.scopes.join(' '),
        request.outcome,
        request.expiresAt,
      ]);
      try {
        await insert;
        return true;
      } catch (error) {
        if (await exists(database, 'oauth_consent_requests', 'id_hash', request.idHash)) return false;
        throw error;
      }
    },

    async findConsentRequest(idHash) {
      const { rows } = await database.execute<ConsentRequestRow>(FIND, [idHash]);
      return rows[0] === undefined ? null : toConsentRequest(rows[0]);
    },

    async presentConsentRequest({ idHash, asked }, scopes, now) {
      const { affected } = await database.execute(
        `UPDATE oauth_consent_requests SET asked_scope = ?
        WHERE id_hash = ? AND asked_scope = ? AND expires_at > ? AND outcome IS NULL`,
        [scopes.join(' '), idHash, asked.scopes.join(' '), now],
      );
      return affected === 1;
    },

    async voidConsentRequest(idHash) {
      await database.execute(
        "UPDATE oauth_consent_requests SET outcome = 'void' WHERE id_hash = ? AND outcome IS NULL",
        [idHash],
      );
    },
  } satisfies Partial<Store>;
}

const COLUMNS = `id_hash, browser_hash, client_id, parameters, audience, user_provider, user_id, asked_scope, outcome,
  expires_at`;

const INSERT = insertInto('oauth_consent_requests', COLUMNS);

const FIND = `SELECT ${COLUMNS} FROM oauth_consent_requests WHERE id_hash = ?`;

/** Kept as JSON: what a client sent may hold characters that a text column refuses, such as NUL. */
export function consentParameters(request: ConsentParameters): string {
  const { redirectUri, scopes, state, nonce, codeChallenge, dpopJkt } = request;
  const { shownName, uiLocales, pushed, answer } = request;
  return JSON.stringify({
    redirectUri,
    scopes,
    state,
    nonce,
    codeChallenge,
    dpopJkt,
    shownName,
    uiLocales,
    pushed,
    answer,
  } satisfies ConsentParameters);
}

type ConsentParameters = Pick<
  ConsentRequest,
  | 'redirectUri'
  | 'scopes'
  | 'state'
  | 'nonce'
  | 'codeChallenge'
  | 'dpopJkt'
  | 'shownName'
  | 'uiLocales'
  | 'pushed'
  | 'answer'
>;

interface ConsentRequestRow {
  readonly id_hash: string;
  readonly browser_hash: string;
  readonly client_id: string;
  readonly parameters: string;
  readonly audience: string | null;
  readonly user_provider: string;
  readonly user_id: string;
  readonly asked_scope: string;
  readonly outcome: string | null;
  readonly expires_at: number;
}

function toConsentRequest(row: ConsentRequestRow): ConsentRequest {
  const parameters = JSON.parse(row.parameters) as ConsentParameters;
  return {
    ...parameters,
    idHash: row.id_hash,
    browserHash: row.browser_hash,
    clientId: row.client_id,
    audience: row.audience,
    asked: { person: { provider: row.user_provider, id: row.user_id }, scopes: words(row.asked_scope) },
    outcome: row.outcome as ConsentOutcome | null,
    expiresAt: row.expires_at,
  };
}
