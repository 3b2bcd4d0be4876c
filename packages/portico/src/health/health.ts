import type { Log } from '@portico/sql';

/** What a server needs to serve: its store, the schema of that, and a signing key where one is needed. */
export type HealthPart = 'store' | 'schema' | 'key';

/** `unknown` where nothing can be said, because the store does not answer. */
export type HealthState = 'ok' | 'failing' | 'unknown';

/** Whether requests should be sent to this process now. */
export interface Readiness {
  /** `stopping` from the moment at which the process is told to end: then nothing is looked at. */
  readonly status: 'ready' | 'not_ready' | 'stopping';
  /** What was looked at; a part that is not `ok` makes the process not ready. Why it is not is in the log alone. */
  readonly checks: Readonly<Partial<Record<HealthPart, HealthState>>>;
}

/** What probes ask. */
export interface Health {
  /**
   * Whether the server can serve now: as of a second ago at most, since probes come from many sides. Takes two seconds at most, as a
   * store that does not answer in that time is not ready. Never rejects.
   */
  readiness(): Promise<Readiness>;
  /** From now on `stopping`, for good: for a process that goes on to serve for a while after it is told to end. */
  stop(): void;
}

/** Looks at one part; rejects with what is wrong. Resolves with false where nothing can be said. */
export type HealthCheck = () => Promise<boolean>;

export interface HealthOptions {
  readonly checks: Readonly<Record<HealthPart, HealthCheck>>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
  /** How long all that is looked at may take, in milliseconds; 2000 unless a test says otherwise. */
  readonly longest?: number;
}

/** How long what was found holds, in milliseconds. */
const HOLDS = 1000;
const LONGEST = 2000;

/** At most one look at a time, however many ask; what was found holds for a second. The log has a line when a part changes. */
export function createHealth({ checks, clock, log, longest = LONGEST }: HealthOptions): Health {
  const parts = Object.keys(checks) as HealthPart[];
  const failing = new Set<HealthPart>();
  /** Looks that did not come back in time; they are waited for instead of begun again. */
  const looking = new Map<HealthPart, Promise<Found>>();
  let asked: Promise<Readiness> | null = null;
  let askedAt = 0;
  let stopping = false;

  async function look(part: HealthPart): Promise<Found> {
    try {
      return (await checks[part]()) ? OK : UNKNOWN;
    } catch (reason) {
      return { state: 'failing', reason };
    }
  }

  function lookOnce(part: HealthPart): Promise<Found> {
    const running = looking.get(part) ?? look(part).finally(() => looking.delete(part));
    looking.set(part, running);
    return within(longest, running);
  }

  async function lookAtAll(): Promise<Readiness> {
    const looked = await Promise.all(parts.map(async (part) => [part, await lookOnce(part)] as const));
    const found = new Map(looked);
    // The schema of a store that does not answer is unknown, and the probe has waited long enough.
    if (found.get('store')?.state === 'failing') {
      for (const [part, { state, isLate = false }] of found)
        if (part !== 'store' && (isLate || (part === 'schema' && state === 'failing')))
          found.set(part, UNKNOWN);
    }
    for (const [part, each] of found) note(part, each);
    const states = [...found].map(([part, { state }]) => [part, state] as const);
    const isReady = states.every(([, state]) => state === 'ok');
    return { status: isReady ? 'ready' : 'not_ready', checks: Object.fromEntries(states) };
  }

  /** A line for each change, and none for each probe. */
  function note(part: HealthPart, { state, reason }: Found): void {
    if (state === 'failing' && !failing.has(part)) {
      failing.add(part);
      log.error('Not ready: {part} fails: {exception}', { part, exception: reason });
    } else if (state === 'ok' && failing.delete(part)) {
      log.info('{part} is ready again', { part });
    }
  }

  return {
    readiness() {
      if (stopping) return Promise.resolve({ status: 'stopping', checks: {} });
      // A clock that is set back must not make it hold for longer.
      if (asked !== null && Math.abs(clock() - askedAt) < HOLDS) return asked;
      askedAt = clock();
      asked = lookAtAll();
      return asked;
    },
    stop() {
      stopping = true;
    },
  };
}

interface Found {
  readonly state: HealthState;
  /** Why it fails; null unless it does. */
  readonly reason: unknown;
  /** Whether it did not answer in time. */
  readonly isLate?: boolean;
}

const OK: Found = { state: 'ok', reason: null };
const UNKNOWN: Found = { state: 'unknown', reason: null };

async function within(longest: number, running: Promise<Found>): Promise<Found> {
  const late = Promise.withResolvers<Found>();
  const timeout = setTimeout(() => {
    const reason = new Error(`There was no answer within ${longest} milliseconds`);
    late.resolve({ state: 'failing', reason, isLate: true });
  }, longest);
  try {
    return await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timeout);
  }
}
