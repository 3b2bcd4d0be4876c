import type { Log } from '@portico/sql';

/** What a server needs: its store, the schema, and a signing key if a client needs one. */
export type HealthPart = 'store' | 'schema' | 'key';

/** `unknown` if the store does not answer. */
export type HealthState = 'ok' | 'failing' | 'unknown';

/** Whether requests should be sent to this process now. */
export interface Readiness {
  /** `stopping` once the process was told to end. Then nothing is checked. */
  readonly status: 'ready' | 'not_ready' | 'stopping';
  /** A part that is not `ok` makes the process not ready. Only the log has the reason. */
  readonly checks: Readonly<Partial<Record<HealthPart, HealthState>>>;
}

/** Checks one part. Rejects with the problem. Resolves with false if nothing can be said. */
export type HealthCheck = () => Promise<boolean>;

/** How long a result holds, in milliseconds. */
const HOLDS = 1000;
/** How long all checks may take, in milliseconds. */
const LONGEST = 2000;

interface Found {
  readonly state: HealthState;
  /** Why it fails; null unless it does. */
  readonly reason: unknown;
  /** Whether it did not answer in time. */
  readonly isLate?: boolean;
}

const OK: Found = { state: 'ok', reason: null };
const UNKNOWN: Found = { state: 'unknown', reason: null };

/**
 * Answers probes. Checks once at a time, for any number of probes. Logs a line when a part changes.
 */
export class Health {
  readonly #checks: Readonly<Record<HealthPart, HealthCheck>>;
  readonly #clock: () => number;
  readonly #log: Log;
  readonly #longest: number;
  readonly #failing = new Set<HealthPart>();
  /** Checks that are late. They are waited for, and not started again. */
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
   * Whether the server can serve now. The result may be a second old. Takes at most two seconds: a
   * store that does not answer in that time is not ready. Never rejects.
   */
  readiness(): Promise<Readiness> {
    if (this.#isStopping) return Promise.resolve({ status: 'stopping', checks: {} });
    // A clock that is set back must not extend it.
    if (this.#asked !== null && Math.abs(this.#clock() - this.#askedAt) < HOLDS) return this.#asked;
    this.#askedAt = this.#clock();
    this.#asked = this.#lookAtAll();
    return this.#asked;
  }

  /** From now on `stopping`: for a process that still serves for a while before it ends. */
  stop(): void {
    this.#isStopping = true;
  }

  async #lookAtAll(): Promise<Readiness> {
    const parts = Object.keys(this.#checks) as HealthPart[];
    const looked = await Promise.all(parts.map(async (part) => [part, await this.#lookOnce(part)] as const));
    const found = new Map(looked);
    // The schema of a store that does not answer is unknown.
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
    const running = this.#looking.get(part) ?? this.#look(part).finally(() => this.#looking.delete(part));
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

  /** A line for each change, and none for each probe. */
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
    const reason = new Error(`No answer came within ${longest} milliseconds`);
    late.resolve({ state: 'failing', reason, isLate: true });
  }, longest);
  try {
    return await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timeout);
  }
}
