/** How many requests go out, at once and within a minute. */
export interface OutboundLimits {
  /** Runs the work, or throws an OutboundError when there have been, or are, too many. */
  within<T>(request: CountedRequest, work: () => Promise<T>): Promise<T>;
}

export interface CountedRequest {
  readonly url: URL;
  /** For whom it is fetched. */
  readonly person: string;
  /** Whether that is nobody who is signed in, `person` being the network that it came from; false unless given. */
  readonly isStranger?: boolean;
  /** Whether this URL was good before, and is kept. */
  readonly isKnown: boolean;
}

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  /** In how many seconds the same may succeed; null when nothing says that it will. */
  readonly retryAfter: number | null;

  /** The message is for the log alone: it says what was found where a stranger had us look. */
  constructor(message: string, retryAfter: number | null = null) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/**
 * Anybody may name any URL, so one person has much less than a host, and little of one host: nobody keeps a host from others. What is known
 * is counted apart, and by its URL instead of its host, so that whoever uses up a host, or all, with what they made up holds up nobody's
 * client. Documents are kept for five minutes at least, so nobody in good faith comes near any of these.
 */
const LIMITS: Limits = {
  all: { atOnce: 32, inAMinute: 300 },
  person: { atOnce: 4, inAMinute: 10 },
  personThere: { atOnce: 2, inAMinute: 5 },
  there: { atOnce: 8, inAMinute: 60 },
};
/** What nobody who is signed in has asked for is less, and counted apart: it takes nothing from those who are. */
const LIMITS_OF_STRANGERS: Limits = {
  ...LIMITS,
  all: { atOnce: 8, inAMinute: 60 },
  there: { atOnce: 4, inAMinute: 20 },
};

type Limits = Readonly<Record<Kind, { readonly atOnce: number; readonly inAMinute: number }>>;
type Kind = 'all' | 'person' | 'personThere' | 'there';

const MINUTE = 60_000;

export interface Count {
  running: number;
  /** Within the minute that began then. */
  begun: number;
  since: number;
}

/** The counts are kept where the caller says. */
export function createOutboundLimits(clock: () => number, counts = new Map<string, Count>()): OutboundLimits {
  let tidied = 0;

  /** Names are made up by strangers. Only requests that go out add any, so there are no more than of two minutes. */
  function forget(now: number): void {
    if (now - tidied < MINUTE) return;
    tidied = now;
    for (const [name, count] of counts) {
      if (count.running === 0 && now - count.since >= MINUTE) counts.delete(name);
    }
  }

  function isFull(name: string, limit: Limits[Kind], now: number): boolean {
    const count = counts.get(name);
    if (count === undefined) return false;
    const begun = now - count.since < MINUTE ? count.begun : 0;
    return count.running >= limit.atOnce || begun >= limit.inAMinute;
  }

  function begin(name: string, now: number): Count {
    const count = counts.get(name) ?? { running: 0, begun: 0, since: now };
    counts.set(name, count);
    if (now - count.since >= MINUTE) Object.assign(count, { begun: 0, since: now });
    count.running += 1;
    count.begun += 1;
    return count;
  }

  return {
    async within(request, work) {
      const now = clock();
      const counted = countedAs(request);
      const full = counted.find(({ limit, name }) => isFull(name, limit, now));
      if (full !== undefined) throw tooMany(full.shown);
      forget(now);
      const begun = counted.map(({ name }) => begin(name, now));
      try {
        return await work();
      } finally {
        for (const count of begun) count.running -= 1;
      }
    },
  };
}

/** What a request counts for: the name of each count, and how the log has it. */
function countedAs({ url, person, isKnown, isStranger = false }: CountedRequest) {
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

function tooMany(of: string): OutboundError {
  return new OutboundError(
    `too many documents were fetched ${of} within a minute, or are being fetched`,
    MINUTE / 1000,
  );
}
