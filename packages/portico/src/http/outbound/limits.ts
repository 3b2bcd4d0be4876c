export interface CountedRequest {
  readonly url: URL;
  /** The person for whom the server fetches the URL. */
  readonly person: string;
  /**
   * Whether no person is signed in. In that case, `person` is the client's network. Defaults to
   * false.
   */
  readonly isStranger?: boolean;
  /** Whether the server fetched this URL successfully before, and has stored the result. */
  readonly isKnown: boolean;
}

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  /** How many seconds later the same request may succeed. Null if this is unknown. */
  readonly retryAfter: number | null;

  /**
   * The message is only for the log, because it describes what the server found at a URL that
   * anyone may have chosen.
   */
  constructor(message: string, retryAfter: number | null = null) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/**
 * Anyone can send any URL. So one person's limit is much lower than the limit of a host, and the
 * limit of one person at one host is lower still. No person can then block a host for others.
 *
 * Known URLs are counted separately, by URL instead of host. So a person who uses up a host's
 * limit, or the total limit, with invented URLs does not block existing clients. Documents are
 * cached for at least five minutes, so normal use stays far below these limits.
 */
const LIMITS: Limits = {
  all: { atOnce: 32, inAMinute: 300 },
  person: { atOnce: 4, inAMinute: 10 },
  personThere: { atOnce: 2, inAMinute: 5 },
  there: { atOnce: 8, inAMinute: 60 },
};
/**
 * Requests without a signed-in person have lower limits and a separate count. So they do not use up
 * the limits of signed-in people.
 */
const LIMITS_OF_STRANGERS: Limits = {
  ...LIMITS,
  all: { atOnce: 8, inAMinute: 60 },
  there: { atOnce: 4, inAMinute: 20 },
};

const fetchedTooMany = (of: string) =>
  new OutboundError(
    `too many documents were fetched ${of} within a minute, or are being fetched`,
    MINUTE / 1000,
  );
const sentTooMany = (host: string) =>
  new OutboundError(
    `too many requests were sent to ${host} within a minute, or are being sent`,
    MINUTE / 1000,
  );

/** How many requests may run at the same time, and how many may start in a minute. */
export interface Limit {
  readonly atOnce: number;
  readonly inAMinute: number;
}

/** A limit that a request counts towards, with its key, and with its name for the log. */
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
  /** How many requests began in the minute that started at `since`. */
  begun: number;
  since: number;
}

/** Limits outbound requests: how many run at the same time, and how many start per minute. */
export class OutboundLimits {
  readonly #clock: () => number;
  readonly #counts: Map<string, Count>;
  #tidied = 0;

  /**
   * `counts` contains the state. Pass a map if you need the state elsewhere, for example in a test.
   */
  constructor(clock: () => number, counts = new Map<string, Count>()) {
    this.#clock = clock;
    this.#counts = counts;
  }

  /** Runs the work, or throws an OutboundError when the limit is reached. */
  within<T>(request: CountedRequest, work: () => Promise<T>): Promise<T> {
    return this.#run(countedAs(request), fetchedTooMany, work);
  }

  /** Like `within`, for requests that send something to a host. The caller sets the limit. */
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
   * Removes old counts, because an attacker can invent any number of names. Only requests that are
   * sent add counts, so the counts of at most two minutes are stored.
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
 * Whether the minute of the count is still running. If the clock was set back to before its start,
 * the minute has ended.
 */
function isCurrent({ since }: Count, now: number): boolean {
  return now >= since && now - since < MINUTE;
}

/** Returns the counts for a request, each with its key and with its name for the log. */
function countedAs(request: CountedRequest): readonly Counted[] {
  const { url, person, isKnown, isStranger = false } = request;
  const there = isKnown ? url.href : url.hostname;
  const limits = isStranger ? LIMITS_OF_STRANGERS : LIMITS;
  const named = (of: Kind, shown: string, ...names: readonly string[]) => ({
    limit: limits[of],
    shown,
    name: JSON.stringify([isKnown, isStranger, of, ...names]),
  });
  return [
    named('all', 'in all'),
    named('person', `for ${person}`, person),
    named('personThere', `for ${person} of ${there}`, person, there),
    named('there', `of ${there}`, there),
  ];
}
