import type { Log } from '@portico/sql';

/**
 * What a server needs to handle requests: its store, its schema, and a signing key if a client
 * needs one.
 */
export type HealthPart = 'store' | 'schema' | 'key';

/** If the store does not respond, the state of other parts can be `unknown`. */
export type HealthState = 'ok' | 'failing' | 'unknown';

/** The result of a readiness probe. */
export interface Readiness {
  /** `stopping`: the process received the signal to stop, and the server checks nothing. */
  readonly status: 'ready' | 'not_ready' | 'stopping';
  /**
   * The state of each part, or empty if the process is stopping. All parts of a ready process are
   * `ok`. Only the log contains the reason of a failure.
   */
  readonly checks: Readonly<Partial<Record<HealthPart, HealthState>>>;
}

/**
 * Resolves to true if the part works, and to false if its state is unknown. Rejects with the reason
 * if the part fails.
 */
export type HealthCheck = () => Promise<boolean>;

/** How long the server reuses the result, in milliseconds. */
const HOLDS = 1000;
/** How long all checks together may take, in milliseconds. */
const LONGEST = 2000;

interface Found {
  readonly state: HealthState;
  /** Why the check failed, or null. */
  readonly reason: unknown;
  /** True if the check took too long. */
  readonly isLate?: boolean;
}

const OK: Found = { state: 'ok', reason: null };
const UNKNOWN: Found = { state: 'unknown', reason: null };

/**
 * Runs the checks for readiness probes. Probes at the same time share one run. Logs a line when the
 * state of a part changes.
 */
export class Health {
  readonly #checks: Readonly<Record<HealthPart, HealthCheck>>;
  readonly #clock: () => number;
  readonly #log: Log;
  readonly #longest: number;
  readonly #failing = new Set<HealthPart>();
  /** The checks that have not finished. Further probes wait for them. */
  readonly #looking = new Map<HealthPart, Promise<Found>>();
  #asked: Promise<Readiness> | null = null;
  #askedAt = 0;
  #isStopping = false;

  constructor(
    checks: Readonly<Record<HealthPart, HealthCheck>>,
    clock: () => number,
    log: Log,
    longest = LONGEST,
  ) {
    this.#checks = checks;
    this.#clock = clock;
    this.#log = log;
    this.#longest = longest;
  }

  /**
   * Returns the current state, up to one second old. The result is `not_ready` if the store does
   * not respond within two seconds. Never rejects.
   */
  readiness(): Promise<Readiness> {
    if (this.#isStopping) return Promise.resolve({ status: 'stopping', checks: {} });
    // If the clock was set back, the age of the stored result is unknown.
    if (this.#asked !== null && Math.abs(this.#clock() - this.#askedAt) < HOLDS) return this.#asked;
    this.#askedAt = this.#clock();
    this.#asked = this.#lookAtAll();
    return this.#asked;
  }

  /**
   * Makes all later results `stopping`. Call it when the process will soon exit but still handles
   * requests.
   */
  stop(): void {
    this.#isStopping = true;
  }

  async #lookAtAll(): Promise<Readiness> {
    const parts = Object.keys(this.#checks) as HealthPart[];
    const looked = await Promise.all(
      parts.map(async (part) => [part, await this.#lookOnce(part)] as const),
    );
    const found = new Map(looked);
    // A failing store can be the reason for a failing schema check or a late check. The states of
    // these parts are then unknown.
    if (found.get('store')?.state === 'failing') {
      for (const [part, { state, isLate = false }] of found)
        if (part !== 'store' && (isLate || (part === 'schema' && state === 'failing')))
          found.set(part, UNKNOWN);
    }
    for (const [part, each] of found) this.#note(part, each);
    const states = [...found].map(([part, { state }]) => [part, state] as const);
    const isReady = states.every(([, state]) => state === 'ok');
    return { status: isReady ? 'ready' : 'not_ready', checks: Object.fromEntries(states) };
  }

  #lookOnce(part: HealthPart): Promise<Found> {
    const running =
      this.#looking.get(part) ?? this.#look(part).finally(() => this.#looking.delete(part));
    this.#looking.set(part, running);
    return within(this.#longest, running);
  }

  async #look(part: HealthPart): Promise<Found> {
    try {
      return (await this.#checks[part]()) ? OK : UNKNOWN;
    } catch (reason) {
      return { state: 'failing', reason };
    }
  }

  /** Logs when the part begins to fail or is ready again, not for each probe. */
  #note(part: HealthPart, { state, reason }: Found): void {
    if (state === 'failing' && !this.#failing.has(part)) {
      this.#failing.add(part);
      this.#log.error('Not ready: {part} fails: {exception}', { part, exception: reason });
    } else if (state === 'ok' && this.#failing.delete(part)) {
      this.#log.info('{part} is ready again', { part });
    }
  }
}

async function within(longest: number, running: Promise<Found>): Promise<Found> {
  const late = Promise.withResolvers<Found>();
  const timeout = setTimeout(() => {
    const reason = new Error(`There was no response within ${longest} milliseconds`);
    late.resolve({ state: 'failing', reason, isLate: true });
  }, longest);
  try {
    return await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timeout);
  }
}
