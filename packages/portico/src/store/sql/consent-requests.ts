import type { Database } from '@portico/sql';
import type { PersonReference } from '../../person.ts';
import type { PriorAuthorization } from '../prior-consent.ts';
import type { ConsentAnswer, ConsentOutcome, ConsentRequest } from '../requests.ts';
import { NewAuthorizations, type NewAuthorization } from './new-authorizations.ts';
import { exists, insertInto, placeholders, voidOpen, words } from './statements.ts';

/** Reads and writes authorization requests of signed-in people (`oauth_consent_requests`). */
export class ConsentRequestRecords {
  readonly #database: Database;
  readonly #allow: NewAuthorizations;

  constructor(database: Database) {
    this.#database = database;
    this.#allow = new NewAuthorizations(database, ANSWER);
  }

  /** Returns false if a request with this id exists. */
  async insertConsentRequest(request: ConsentRequest): Promise<boolean> {
    const insert = this.#database.execute(INSERT, [
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
      if (await exists(this.#database, 'oauth_consent_requests', 'id_hash', request.idHash))
        return false;
      throw error;
    }
  }

  /** Returns the request, even if it was answered, has ended or has expired. */
  async findConsentRequest(idHash: string): Promise<ConsentRequest | null> {
    const { rows } = await this.#database.execute<ConsentRequestRow>(FIND, [idHash]);
    return rows[0] === undefined ? null : toConsentRequest(rows[0]);
  }

  /**
   * Records that the same person sees the request again, with these scopes. Returns false if the
   * request has expired, or if it changed after the caller read it.
   */
  async presentConsentRequest(
    { idHash, asked }: ConsentRequest,
    scopes: readonly string[],
    now: number,
  ): Promise<boolean> {
    const { affected } = await this.#database.execute(
      `UPDATE oauth_consent_requests SET asked_scope = ?
        WHERE id_hash = ? AND asked_scope = ? AND expires_at > ? AND outcome IS NULL`,
      [scopes.join(' '), idHash, asked.scopes.join(' '), now],
    );
    return affected === 1;
  }

  /** Has no effect on an answered request. */
  async voidConsentRequest(idHash: string): Promise<void> {
    await this.#database.execute(
      "UPDATE oauth_consent_requests SET outcome = 'void' WHERE id_hash = ? AND outcome IS NULL",
      [idHash],
    );
  }

  /**
   * Records the person's answer, once. `allowed` is the authorization to start with its code, or
   * null if the person denies access. Returns false if the request is no longer open, or if a
   * feature has blocked the authorization.
   *
   * `prior` is set if the consent page is skipped: the earlier authorization that covers the
   * request. If it is no longer active or no longer covers the request, changes nothing and returns
   * false.
   */
  async answerConsent(
    read: ConsentRequest,
    allowed: NewAuthorization | null,
    { allow, at: now }: Omit<ConsentAnswer, 'familyId'>,
    prior: PriorAuthorization | null = null,
  ): Promise<boolean> {
    const { idHash, asked } = read;
    const familyId = allowed?.family.id ?? null;
    const parameters = consentParameters({ ...read, answer: { allow, at: now, familyId } });
    const answered = (outcome: ConsentOutcome) => {
      return [outcome, parameters, idHash, asked.person.provider, asked.person.id, now];
    };
    if (allowed === null) {
      const deny = async (statement: string, again?: () => Promise<boolean>) =>
        (await this.#database.execute(statement, answered('denied'), again)).affected === 1;
      return deny(ANSWER, () => deny(DENY_AGAIN));
    }
    return this.#allow.begin(answered('allowed'), allowed, now, { prior });
  }

  /**
   * Reads the first `limit` requests after this id, and ends this person's waiting ones. With
   * `forget`, removes all of this person's requests instead. Returns their number, and the last id
   * read. The id is null at the end.
   */
  async endRequestsOfPerson(
    person: PersonReference,
    after: string,
    limit: number,
    forget: boolean,
  ): Promise<{ readonly ended: number; readonly last: string | null }> {
    const { rows } = await this.#database.execute<PersonRow>(
      `SELECT id_hash, user_provider, user_id FROM oauth_consent_requests WHERE id_hash > ?
        ORDER BY id_hash LIMIT ${limit}`,
      [after],
    );
    const theirs = rows.filter((row) => isPersonOfRow(row, person)).map((row) => row.id_hash);
    const last = rows.length < limit ? null : (rows.at(-1)?.id_hash ?? null);
    if (theirs.length === 0) return { ended: 0, last };
    const which = `WHERE id_hash IN (${placeholders(theirs)})`;
    const { affected } = await this.#database.execute(
      forget
        ? `DELETE FROM oauth_consent_requests ${which}`
        : `UPDATE oauth_consent_requests SET outcome = 'void' ${which} AND outcome IS NULL`,
      theirs,
    );
    return { ended: affected, last };
  }

  /**
   * Reads the first `limit` requests after this id, and ends the waiting ones. Returns their
   * number, and the last id read. The id is null at the end.
   */
  endRequests(
    after: string,
    limit: number,
  ): Promise<{ readonly ended: number; readonly last: string | null }> {
    return voidOpen(this.#database, ['oauth_consent_requests', 'id_hash'], after, limit);
  }
}

interface PersonRow {
  readonly id_hash: string;
  readonly user_provider: string | null;
  readonly user_id: string | null;
}

function isPersonOfRow(
  { user_provider: provider, user_id: id }: PersonRow,
  person: PersonReference,
): boolean {
  return provider === person.provider && id === person.id;
}

const COLUMNS = `id_hash, browser_hash, client_id, parameters, audience, user_provider, user_id, asked_scope, outcome,
  expires_at`;

const INSERT = insertInto('oauth_consent_requests', COLUMNS);

const FIND = `SELECT ${COLUMNS} FROM oauth_consent_requests WHERE id_hash = ?`;

const ANSWERABLE = 'id_hash = ? AND user_provider = ? AND user_id = ? AND expires_at > ?';

const ANSWER = `UPDATE oauth_consent_requests SET outcome = ?, parameters = ?
  WHERE ${ANSWERABLE} AND outcome IS NULL`;

/**
 * Denies the request again if the first result was lost. Unlike `ANSWER`, this also matches a
 * request that is already denied.
 */
const DENY_AGAIN = `UPDATE oauth_consent_requests SET outcome = ?, parameters = ?
  WHERE ${ANSWERABLE} AND (outcome IS NULL OR outcome = 'denied')`;

/** JSON: a text column refuses some characters that clients may send, for example NUL. */
function consentParameters(request: ConsentParameters): string {
  const { redirectUri, scopes, state, nonce, codeChallenge, thumbprint: dpopJkt } = request;
  const {
    shownName,
    renews,
    uiLocales,
    direct: pushed,
    silent,
    responseMode,
    choices,
    further,
    details,
    answer,
  } = request;
  return JSON.stringify({
    redirectUri,
    scopes,
    state,
    nonce,
    codeChallenge,
    dpopJkt,
    shownName,
    renews,
    uiLocales,
    pushed,
    silent,
    responseMode,
    choices,
    further,
    details,
    answer,
  } satisfies StoredParameters);
}

type StoredParameters = Omit<ConsentParameters, 'thumbprint' | 'direct'> & {
  readonly dpopJkt: ConsentRequest['thumbprint'];
  readonly pushed?: ConsentRequest['direct'];
};

type ConsentParameters = Pick<
  ConsentRequest,
  | 'redirectUri'
  | 'scopes'
  | 'state'
  | 'nonce'
  | 'codeChallenge'
  | 'thumbprint'
  | 'shownName'
  | 'renews'
  | 'uiLocales'
  | 'direct'
  | 'silent'
  | 'responseMode'
  | 'choices'
  | 'further'
  | 'details'
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
  const {
    dpopJkt: thumbprint,
    pushed: direct,
    ...parameters
  } = JSON.parse(row.parameters) as StoredParameters;
  return {
    ...parameters,
    thumbprint,
    ...(direct === undefined ? {} : { direct }),
    idHash: row.id_hash,
    browserHash: row.browser_hash,
    clientId: row.client_id,
    audience: row.audience,
    asked: {
      person: { provider: row.user_provider, id: row.user_id },
      scopes: words(row.asked_scope),
    },
    outcome: row.outcome as ConsentOutcome | null,
    expiresAt: row.expires_at,
  };
}
