import type { BorrowedDatabase, OpenedDatabase, SqlConnection, SqlParameter } from 'portico';

/** A statement of a request that waits until the test lets it go. */
export interface Held {
  readonly place: Place;
  /** What becomes of it. */
  go(how: How): void;
  /** After `on its way`: delivers it to the database, though nobody waits for it. */
  deliver(): Promise<void>;
}

/** What the statement is for, as tools/model/Grants.tla has it. */
export type Place = 'read' | 'claim' | 'again' | 'replay' | 'revocation' | 'burn' | 'question' | 'last word';

/**
 * `done`: as ever. `not sent`: the store is away. Of a claim also `unheard`: it takes effect, and its acknowledgement is lost; `on its
 * way`: it is lost, and may arrive later. Either is followed by the question whether it took effect.
 */
export type How = 'done' | 'not sent' | 'unheard' | 'on its way';

/** A store on another one, in which the statements of the request that is listened to are held, each by itself. */
export interface GatedStore {
  readonly database: BorrowedDatabase;
  /** Resolves to the next statement that is held; nothing is held unless somebody listens. */
  listen(): Promise<Held>;
  /** Lets everything pass, and what is held for ever fail. */
  silence(): void;
  /** From now on every statement fails, as of a process that was killed. */
  kill(): void;
}

const lost = () => Object.assign(new Error('The store is away'), { code: 'ECONNREFUSED' });

/** The statements that are steps of the model, by how they begin and what is in them. */
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

  /** Waits until it is let go, when somebody listens. */
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
        // It met the row of no use, and was refused as a whole.
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
