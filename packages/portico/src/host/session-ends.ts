import type { Database, Log, SqlConnection } from '@portico/sql';
import { personProblem, type PersonReference } from '../person.ts';

/** Sessions of the application that have ended. */
export type EndedSessions =
  /** One session, with the id from `Host.sessionId`. */
  | { readonly session: string }
  /** All sessions of a person, except the one with the id `except`. */
  | { readonly person: PersonReference; readonly except?: string };

/**
 * The function that `sessionEndedIn` returns. Call it after the commit of your transaction. The
 * change is committed by then, so this function logs errors and never rejects.
 */
export type AfterCommit = () => Promise<void>;

/** Called when sessions end. `connection` is in a transaction. Access the store only through it. */
export type OnSessionEnd = (
  connection: SqlConnection,
  ended: EndedSessions,
) => Promise<AfterCommit>;

/**
 * Returns the `sid` in ID tokens for this client and browser session. Returns null if no ID token
 * can belong to the session.
 */
export type FindSid = (request: Request, clientId: string) => Promise<string | null>;

/** Notifies features when sessions of the application end. */
export class SessionEnds {
  readonly #database: Database;
  readonly #listeners: () => readonly OnSessionEnd[];
  readonly #log: () => Log;

  /** `listeners` and `log` are called only after every feature has started. */
  constructor(database: Database, listeners: () => readonly OnSessionEnd[], log: () => Log) {
    this.#database = database;
    this.#listeners = listeners;
    this.#log = log;
  }

  /** Returns true if any feature needs to know when sessions end. */
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

const NOT_FINISHED = 'Sessions have ended, but a step after the commit failed: {exception}';

function requireValid(ended: EndedSessions): void {
  if ('person' in ended) {
    const problem = personProblem(ended.person);
    if (problem !== null) throw new Error(`sessionEnded needs a person: ${problem}`);
  }
  const id: unknown = 'person' in ended ? (ended.except ?? 'none') : ended.session;
  if (!isSessionId(id)) throw new Error('sessionEnded needs the session id as a non-empty string');
}

export function isSessionId(id: unknown): id is string {
  return typeof id === 'string' && id !== '';
}
