export interface CountedRequest {
  readonly url: URL;
  /** The signed-in person for whom the server fetches the URL. */
  readonly person: string;
  /** True if no person is signed in. `person` is then the client's network. Defaults to false. */
  readonly isStranger?: boolean;
  /** True if the server has stored an earlier result of this URL. */
  readonly isKnown: boolean;
  /** True if the last fetch failed and there is no stored result. Defaults to false. */
  readonly hasFailed?: boolean;
}

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  /** How many seconds to wait before the next attempt. Null if unknown. */
  readonly retryAfter: number | null;

  /**
   * Show `message` only in the log. It describes a response from a URL that anyone may have chosen.
   */
  constructor(message: string, retryAfter: number | null = null) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/**
 * The limits for signed-in people, who can make the server fetch any URL. A person's limit is far
 * below the limit for a host, so one person cannot use up the limit for a host. A person's limit
 * for one host is even lower.
 *
 * Known URLs have separate counters, one for each URL. So a person who uses up a limit with
 * invented URLs cannot stop clients that are in use. Documents are cached for at least five
 * minutes, so normal use stays far below these limits.
 *
 * URLs whose last fetch failed also have separate counters. Repeated attempts do not use up the
 * limits for other URLs.
 */
const LIMITS: Limits = {
  all: { atOnce: 32, inAMinute: 300 },
  person: { atOnce: 4, inAMinute: 10 },
  personThere: { atOnce: 2, inAMinute: 5 },
  there: { atOnce: 8, inAMinute: 60 },
};
/**
 * The limits for requests without a signed-in person. They are lower and have separate counters, so
 * these requests cannot use up the limits of signed-in people.
 */
const LIMITS_OF_STRANGERS: Limits = {
  ...LIMITS,
  all: { atOnce: 8, inAMinute: 60 },
  there: { atOnce: 4, inAMinute: 20 },
};

const fetchedTooMany = (of: string) =>
  new OutboundError(
    `too many documents were fetched ${of} within a minute, or are being fetched now`,
    MINUTE / 1000,
  );
const sentTooMany = (host: string) =>
  new OutboundError(
    `too many requests were sent to ${host} within a minute, or are being sent now`,
    MINUTE / 1000,
  );

/** How many requests can run at the same time, and how many can start per minute. */
export interface Limit {
  readonly atOnce: number;
  readonly inAMinute: number;
}

/** A limit, with the key of its counter (`name`) and its name for the log (`shown`). */
interface Counted {
  readonly limit: Limit;
  readonly shown: string;
  readonly name: string;
}

type Limits = Readonly<Record<Kind, Limit>>;
type Kind = 'all' | 'person' | 'personThere' | 'there';

const MINUTE = 60_000;

export interface Count {
  running: number;
  /** How many requests started in the minute from `since`. */
  begun: number;
  since: number;
}

export class OutboundLimits {
  readonly #clock: () => number;
  readonly #counts: Map<string, Count>;
  #tidied = 0;

  /** Pass `counts` to read the counters, for example in a test. */
  constructor(clock: () => number, counts = new Map<string, Count>()) {
    this.#clock = clock;
    this.#counts = counts;
  }

  /** Runs `work`, or throws an OutboundError if a limit is reached. */
  within<T>(request: CountedRequest, work: () => Promise<T>): Promise<T> {
    return this.#run(countedAs(request), fetchedTooMany, work);
  }

  /** Like `within`, for requests that send data to a host. The caller passes the limit. */
  withinHost<T>({ hostname }: URL, limit: Limit, work: () => Promise<T>): Promise<T> {
    const name = JSON.stringify(['sent', hostname]);
    return this.#run([{ limit, shown: hostname, name }], sentTooMany, work);
  }

  async #run<T>(
    counted: readonly Counted[],
    tooMany: (shown: string) => OutboundError,
    work: () => Promise<T>,
  ): Promise<T> {
    const now = this.#clock();
    const full = counted.find(({ limit, name }) => this.#isFull(name, limit, now));
    if (full !== undefined) throw tooMany(full.shown);
    this.#forget(now);
    const begun = counted.map(({ name }) => this.#begin(name, now));
    try {
      return await work();
    } finally {
      for (const count of begun) count.running -= 1;
    }
  }

  /**
   * Removes old counters, because an attacker can invent any number of URLs. Rejected requests are
   * not counted, so only the counters of the last two minutes remain.
   */
  #forget(now: number): void {
    if (now - this.#tidied < MINUTE) return;
    this.#tidied = now;
    for (const [name, count] of this.#counts) {
      if (count.running === 0 && !isCurrent(count, now)) this.#counts.delete(name);
    }
  }

  #isFull(name: string, limit: Limit, now: number): boolean {
    const count = this.#counts.get(name);
    if (count === undefined) return false;
    const begun = isCurrent(count, now) ? count.begun : 0;
    return count.running >= limit.atOnce || begun >= limit.inAMinute;
  }

  #begin(name: string, now: number): Count {
    const count = this.#counts.get(name) ?? { running: 0, begun: 0, since: now };
    this.#counts.set(name, count);
    if (!isCurrent(count, now)) Object.assign(count, { begun: 0, since: now });
    count.running += 1;
    count.begun += 1;
    return count;
  }
}

/**
 * Returns true until the counter's minute ends. Returns false if the clock was set back to before
 * this minute.
 */
function isCurrent({ since }: Count, now: number): boolean {
  return now >= since && now - since < MINUTE;
}

function countedAs(request: CountedRequest): readonly Counted[] {
  const { url, person, isKnown, isStranger = false, hasFailed = false } = request;
  const there = isKnown ? url.href : url.hostname;
  const limits = isStranger ? LIMITS_OF_STRANGERS : LIMITS;
  const named = (of: Kind, shown: string, ...names: readonly string[]) => ({
    limit: limits[of],
    shown,
    name: JSON.stringify([isKnown, isStranger, hasFailed, of, ...names]),
  });
  return [
    named('all', 'in total'),
    named('person', `for ${person}`, person),
    named('personThere', `for ${person} of ${there}`, person, there),
    named('there', `of ${there}`, there),
  ];
}
