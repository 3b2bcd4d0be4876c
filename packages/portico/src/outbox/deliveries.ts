import { runForNoRequest } from '../http/context.ts';
import type { OutboxMessages, QueuedMessage } from '../store/sql/outbox-messages.ts';
import type { Lease, OutboxReceivers } from '../store/sql/outbox-receivers.ts';
import { backoff } from './backoff.ts';
import type { Deliver, DeliveryResult } from './message.ts';
import type { OutboxSurroundings } from './surroundings.ts';

/** All times are in milliseconds. */
const TIMES = {
  /** How often a process looks for messages from other processes. */
  look: 500,
  /**
   * How often a process looks while it finds messages. After `busy` without one, `look` applies
   * again.
   */
  lookOften: 100,
  busy: 5000,
  /** The wait after an error of the store. */
  pause: 5000,
  /**
   * The lifetime of a lease on a receiver. Only the process with the lease delivers to it. The
   * process must renew the lease before it ends.
   */
  lease: 60_000,
  /** A lease that ends sooner than this is renewed before the next attempt. */
  rest: 30_000,
  /** The maximum time for one attempt. */
  attempt: 10_000,
  /** How long a process delivers to one receiver before the next one gets its turn. */
  turn: 5000,
  /**
   * The maximum wait for a postponed message: after the first attempt (`postponed`) and after each
   * later one (`postponedAgain`).
   */
  postponed: 1000,
  postponedAgain: 60_000,
  /** A receiver is slow if one message takes longer. */
  slow: 1000,
} as const;
/** The receivers of a process at the same time. At most half may be slow or failing. */
const AT_ONCE = { all: 8, troubled: 4 } as const;
/** Messages per query. */
const PAGE = 50;
const LONGEST_REASON = 200;

/** Delivers the messages in the outbox. Several processes can do this at the same time. */
export class Deliveries {
  readonly #around: OutboxSurroundings;
  readonly #receivers: OutboxReceivers;
  readonly #messages: OutboxMessages;
  readonly #running = new Map<string, { isTroubled: boolean; done: Promise<void> }>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;
  #isStarted = false;
  #isWanted = false;
  #isStopped = false;
  #hasFailed = false;
  /** When this process last found a message (`performance.now()`). */
  #foundAt = -Infinity;

  constructor(around: OutboxSurroundings, receivers: OutboxReceivers, messages: OutboxMessages) {
    this.#around = around;
    this.#receivers = receivers;
    this.#messages = messages;
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.wake();
  }

  wake(): void {
    this.#isWanted = true;
    // A console command ends soon, so it never delivers. Processes that handle requests deliver its
    // messages.
    if (!this.#isStarted || this.#isStopped || this.#looking !== null) return;
    // Deliveries belong to no request, even if a request starts them.
    this.#looking = runForNoRequest(() => this.#look()).finally(() => {
      this.#looking = null;
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /**
   * Starts the deliveries that are due, within `AT_ONCE`. Then schedules the next search. Never
   * rejects.
   */
  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      while (this.#isWanted && !this.#isStopped) {
        this.#isWanted = false;
        await this.#begin(false, AT_ONCE.all - this.#running.size);
        await this.#begin(true, Math.min(AT_ONCE.all - this.#running.size, this.#troubledPlaces()));
      }
      this.#hasFailed = false;
    } catch (exception) {
      this.#say(exception);
    }
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => this.wake(), this.#hasFailed ? TIMES.pause : this.#interval());
    // This timer must not keep the process running.
    this.#timer.unref();
  }

  #interval(): number {
    return performance.now() - this.#foundAt < TIMES.busy ? TIMES.lookOften : TIMES.look;
  }

  #troubledPlaces(): number {
    const troubled = [...this.#running.values()].filter(({ isTroubled }) => isTroubled);
    return AT_ONCE.troubled - troubled.length;
  }

  async #begin(isTroubled: boolean, places: number): Promise<void> {
    const kinds = Object.keys(this.#around.deliveries());
    if (places <= 0 || kinds.length === 0) return;
    const now = this.#around.clock();
    const times = { now, until: now + TIMES.lease };
    const leases = await this.#receivers.claim(kinds, isTroubled, times, places);
    if (leases.length > 0) this.#foundAt = performance.now();
    for (const lease of leases)
      this.#running.set(lease.holder, { isTroubled, done: this.#turn(lease) });
  }

  /**
   * Delivers messages to one receiver. If the store fails, the lease expires, and another process
   * can deliver. Never rejects.
   */
  async #turn(lease: Lease): Promise<void> {
    try {
      await this.#deliverAll(lease);
    } catch (exception) {
      this.#say(exception);
    }
    this.#running.delete(lease.holder);
    this.wake();
  }

  async #deliverAll(lease: Lease): Promise<void> {
    const { clock } = this.#around;
    const begun = clock();
    const until = begun + TIMES.lease;
    let isTroubled = false;
    let current = lease;
    for (;;) {
      const page = await this.#messages.next(lease.id, PAGE);
      const last = page.length < PAGE ? page.at(-1) : null;
      if (last === undefined)
        return this.#receivers.release(lease, { dueAt: clock(), isTroubled, delivered: null });
      for (const message of page) {
        const now = clock();
        // The turn ends after this message, so once is enough.
        const isLate = until - now < TIMES.rest;
        if (isLate && !(await this.#receivers.renew(lease, now, now + TIMES.lease))) return;
        const step = await this.#deliver(current, message);
        if (step === 'failed') return;
        current = { ...lease, failures: 0 };
        isTroubled ||= clock() - now > TIMES.slow;
        const delivered = step === 'delivered' ? message.id : null;
        // End the lease in the same transaction that removes the last message.
        if (message === last || clock() - begun > TIMES.turn || this.#isStopped)
          return this.#receivers.release(lease, { dueAt: clock(), isTroubled, delivered });
        if (delivered !== null) await this.#messages.removeDelivered(lease.id, delivered);
      }
    }
  }

  /**
   * Tries to deliver one message:
   *
   * - `delivered`: the message is delivered or obsolete. The caller must remove it.
   * - `aside`: the message has expired or was refused. The outbox keeps it for an operator.
   * - `failed`: the attempt has failed or was postponed. The process stops delivering to this
   *   receiver for now.
   */
  async #deliver(lease: Lease, message: QueuedMessage): Promise<'delivered' | 'aside' | 'failed'> {
    const { clock, random } = this.#around;
    if (message.expiresAt <= clock()) {
      const reason = message.reason ?? 'no attempt was made';
      await this.#messages.setAside(lease.id, message.id, `expired: ${reason}`, clock());
      return 'aside';
    }
    const result = await this.#attempt(lease.kind, message);
    if (result.outcome === 'failed' || result.outcome === 'postponed') {
      const wait = backoff(lease.failures + 1, random());
      const isPostponed = result.outcome === 'postponed';
      const dueAt = clock() + (isPostponed ? Math.min(wait, untilNext(message)) : wait);
      const failure = {
        message: message.id,
        reason: shortened(result.reason),
        isLast: isPostponed,
      };
      await this.#receivers.fail(lease, failure, dueAt);
      return 'failed';
    }
    if (result.outcome !== 'refused') return 'delivered';
    await this.#messages.setAside(lease.id, message.id, shortened(result.reason), clock());
    return 'aside';
  }

  async #attempt(kind: string, message: QueuedMessage): Promise<DeliveryResult> {
    const { deliveries, log } = this.#around;
    const deliver = deliveries()[kind] as Deliver;
    const { id, receiver, payload, createdAt, attempts } = message;
    const signal = AbortSignal.timeout(TIMES.attempt);
    try {
      const result = await Promise.race([
        deliver({ id, receiver, payload, createdAt, attempts }, signal),
        aborted(signal),
      ]);
      return isResult(result)
        ? result
        : { outcome: 'failed', reason: 'the delivery returned an unknown outcome' };
    } catch (exception) {
      log.error('A message of the kind {kind} for {receiver} could not be delivered: {exception}', {
        kind,
        receiver,
        exception,
      });
      return { outcome: 'failed', reason: 'the delivery failed in this process; see the log' };
    }
  }

  /** Logs only the first of several consecutive errors. */
  #say(exception: unknown): void {
    if (!this.#hasFailed && !this.#isStopped)
      this.#around.log.warning('The outbox cannot use the store: {exception}', { exception });
    this.#hasFailed = true;
  }
}

function aborted(signal: AbortSignal): Promise<DeliveryResult> {
  return new Promise((resolve) => {
    const late = () => resolve({ outcome: 'failed', reason: 'it took longer than ten seconds' });
    signal.addEventListener('abort', late, { once: true });
  });
}

/** In milliseconds. Other messages may wait for the same receiver, so the first wait is short. */
function untilNext({ attempts }: QueuedMessage): number {
  return attempts === 0 ? TIMES.postponed : TIMES.postponedAgain;
}

/** A function in JavaScript can return any value. */
function isResult(value: unknown): value is DeliveryResult {
  const { outcome, reason } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (outcome === 'failed' || outcome === 'postponed' || outcome === 'refused')
    return typeof reason === 'string';
  return outcome === 'delivered' || outcome === 'obsolete';
}

/** Returns the reason as stored: shortened, and without control characters. */
function shortened(reason: string): string {
  return reason.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').slice(0, LONGEST_REASON);
}
