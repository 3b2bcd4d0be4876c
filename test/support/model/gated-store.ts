import type { BorrowedDatabase, OpenedDatabase, SqlConnection, SqlParameter } from 'portico';

/** A statement of a request, stopped until the test releases it. */
export interface Held {
  readonly place: Place;
  /** Releases the statement with this outcome. */
  go(how: How): void;
  /**
   * Delivers a statement to the database after `on its way`, although its request no longer waits
   * for it.
   */
  deliver(): Promise<void>;
}

/** The purpose of a statement, in the terms of tools/model/Grants.tla. */
export type Place =
  'read' | 'claim' | 'again' | 'replay' | 'revocation' | 'burn' | 'question' | 'last word';

/**
 * The outcome of a statement. `done` is the normal case. `not sent` means that the store is away. A
 * claim can also be `unheard`: it takes effect, but its response is lost. Or it can be `on its
 * way`: it is lost, but may arrive later. After these two outcomes, the server asks whether the
 * claim took effect.
 */
export type How = 'done' | 'not sent' | 'unheard' | 'on its way';

/** Wraps a store, and stops each statement of the observed request. */
export interface GatedStore {
  readonly database: BorrowedDatabase;
  /** Resolves to the next stopped statement. Statements pass while the test does not listen. */
  listen(): Promise<Held>;
  /** Lets all statements pass. Statements that stay stopped fail. */
  silence(): void;
  /** Makes all later statements fail, as if the process was killed. */
  kill(): void;
}

const lost = () => Object.assign(new Error('The store is away'), { code: 'ECONNREFUSED' });

/**
 * The statements that are steps of the model. They are recognized by their beginning and their
 * content.
 */
const STATEMENTS: readonly (readonly [place: Place, pattern: RegExp])[] = [
  ['again', /refresh_answer, refresh_used_at, refresh_generation/],
  ['read', /^SELECT f\.id.* FROM oauth_families f WHERE f\.id = \?$/s],
  ['last word', /^SELECT refresh_hash FROM oauth_families/],
  ['burn', /^UPDATE oauth_families SET code_spent_at = \?, code_parameters = NULL\s+WHERE/],
  ['replay', /^UPDATE oauth_families SET revoked_at = \? .*refresh_hash <> \?/s],
  ['revocation', /^UPDATE oauth_families SET revoked_at = \?/],
];

const placeOf = (sql: string): Place | null =>
  STATEMENTS.find(([, pattern]) => pattern.test(sql))?.[0] ?? null;

export function createGatedStore(inner: OpenedDatabase): GatedStore {
  let listener: PromiseWithResolvers<Held> | null = null;
  const held = new Set<(how: How) => void>();
  let isDead = false;

  /** If the test listens, waits until it releases the statement. */
  async function pass(place: Place | null, deliver: () => Promise<void>): Promise<How> {
    if (isDead) return 'not sent';
    if (place === null || listener === null) return 'done';
    const { promise, resolve } = Promise.withResolvers<How>();
    held.add(resolve);
    const { resolve: tell } = listener;
    listener = null;
    tell({
      place,
      go(how) {
        held.delete(resolve);
        resolve(how);
      },
      deliver,
    });
    return promise;
  }

  async function use<T>(
    place: Place | null,
    run: () => Promise<T>,
    ask: ((result: T | undefined) => Promise<boolean>) | null,
  ): Promise<T> {
    let late: T | undefined;
    const deliver = async () => {
      try {
        late = await run();
      } catch {
        // It met a row that is no longer valid, and was rejected completely.
      }
    };
    const how = await pass(place, deliver);
    if (how === 'not sent') throw lost();
    if (how === 'done' || ask === null) return run();
    const result = how === 'unheard' ? await run() : undefined;
    const tookEffect = await ask(result);
    const found = result ?? late;
    if (!tookEffect || found === undefined) throw lost();
    return found;
  }

  const database: BorrowedDatabase = {
    ...inner,
    execute: <Row>(
      sql: string,
      parameters: readonly SqlParameter[] = [],
      committed?: (connection: SqlConnection) => Promise<boolean>,
    ) =>
      use(
        committed === undefined ? placeOf(sql) : 'claim',
        () => inner.execute<Row>(sql, parameters),
        committed === undefined ? null : () => committed(database),
      ),
    transaction: <T>(
      work: (connection: SqlConnection) => Promise<T>,
      committed?: (connection: SqlConnection, result: T) => Promise<boolean>,
    ) =>
      use(
        committed === undefined ? 'question' : 'claim',
        () => inner.transaction(work),
        committed === undefined ? null : (result) => committed(database, result ?? (true as T)),
      ),
    close: async () => {},
    open: () => database,
  };

  function silence(): void {
    listener = null;
    for (const resolve of held) resolve('not sent');
    held.clear();
  }

  return {
    database,
    listen() {
      listener = Promise.withResolvers<Held>();
      return listener.promise;
    },
    silence,
    kill() {
      isDead = true;
      silence();
    },
  };
}
