import type { Database, Log, SqlConnection } from '@portico/sql';
import { personProblem, type PersonReference } from './person.ts';

/** Sessions of the application that have ended. */
export type EndedSessions =
  /** One session, identified by the id that `Host.sessionId` returns. */
  | { readonly session: string }
  /** All sessions of a person, except the session `except` if you give one. */
  | { readonly person: PersonReference; readonly except?: string };

/**
 * Call it after the commit. The function that your application gets never rejects, because the
 * change is already committed. It logs errors instead.
 */
export type AfterCommit = () => Promise<void>;

/**
 * A function that is called in the transaction in which sessions of the application end. It must
 * use only this connection.
 */
export type OnSessionEnd = (
  connection: SqlConnection,
  ended: EndedSessions,
) => Promise<AfterCommit>;

/** Informs features about sessions of the application that end. */
export class SessionEnds {
  readonly #database: Database;
  readonly #listeners: () => readonly OnSessionEnd[];
  readonly #log: () => Log;

  /** This class calls `listeners` and `log` only after every feature has started. */
  constructor(database: Database, listeners: () => readonly OnSessionEnd[], log: () => Log) {
    this.#database = database;
    this.#listeners = listeners;
    this.#log = log;
  }

  /** Whether any feature needs the information. */
  get isHeard(): boolean {
    return this.#listeners().length > 0;
  }

  /** See `AuthorizationServer.sessionEnded`. */
  async ended(ended: EndedSessions): Promise<void> {
    requireValid(ended);
    if (!this.isHeard) return;
    const committed = await this.#database.transaction((connection) =>
      this.endedIn(connection, ended),
    );
    await committed();
  }

  /** See `AuthorizationServer.sessionEndedIn`. */
  async endedIn(connection: SqlConnection, ended: EndedSessions): Promise<AfterCommit> {
    requireValid(ended);
    const committed: AfterCommit[] = [];
    for (const listener of this.#listeners()) committed.push(await listener(connection, ended));
    return async () => {
      for (const each of committed)
        await each().catch((exception: unknown) =>
          this.#log().warning(NOT_FINISHED, { exception }),
        );
    };
  }
}

const NOT_FINISHED = 'Sessions have ended, but what follows the commit failed: {exception}';

function requireValid(ended: EndedSessions): void {
  if ('person' in ended) {
    const problem = personProblem(ended.person);
    if (problem !== null) throw new Error(`sessionEnded needs a person: ${problem}`);
  }
  const id: unknown = 'person' in ended ? (ended.except ?? 'none') : ended.session;
  if (!isSessionId(id)) throw new Error('sessionEnded needs the id of a session, as a text');
}

/** Whether this can be the id of a session. */
export function isSessionId(id: unknown): id is string {
  return typeof id === 'string' && id !== '';
}
