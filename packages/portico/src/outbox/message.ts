import { quoted } from '../quoting.ts';

/** A message to add to the outbox. */
export interface NewMessage {
  /** The kind of message. A feature must list it in `Contribution.deliveries`. */
  readonly kind: string;
  /**
   * The receiver, for example a `client_id`: 1 to 255 characters. Each receiver receives its
   * messages in order.
   */
  readonly receiver: string;
  /**
   * The data that the delivery function needs, at most 65536 characters. It is stored as plain
   * text, so it must not contain a secret, a token or a code. Create or read these when the message
   * is delivered.
   */
  readonly payload: string;
  /** When the message expires, in milliseconds since 1970. An expired message is not delivered. */
  readonly expiresAt: number;
}

const LONGEST = { receiver: 255, payload: 65_536 } as const;

/**
 * Returns why this message cannot be added, or null if it can. The reason never contains the
 * payload.
 */
export function messageProblem(
  { kind, receiver, payload, expiresAt }: NewMessage,
  delivered: Readonly<Record<string, Deliver>>,
): string | null {
  if (!Object.hasOwn(delivered, kind))
    return `No feature delivers messages of the kind ${quoted(kind)}`;
  if (receiver === '') return 'The receiver of a message must not be empty';
  for (const [name, text] of Object.entries({ receiver, payload })) {
    const most = LONGEST[name as keyof typeof LONGEST];
    if (typeof text !== 'string' || text.length > most)
      return `The ${name} of a message must be a string of at most ${most} characters`;
    if (!text.isWellFormed() || text.includes('\0'))
      return `The ${name} of a message must be well-formed Unicode without NUL`;
  }
  return Number.isSafeInteger(expiresAt)
    ? null
    : 'The expiresAt of a message must be a whole number of milliseconds since 1970';
}

/** A message that is due for delivery. */
export interface OutboxMessage {
  /**
   * The message's unique id. It is the same for every attempt, so that receivers can recognize
   * duplicates.
   */
  readonly id: string;
  /** The receiver of the message. */
  readonly receiver: string;
  /** The payload that was added. */
  readonly payload: string;
  /** When the message was added, in milliseconds since 1970. */
  readonly createdAt: number;
  /** How many attempts to deliver the message have failed. */
  readonly attempts: number;
}

/**
 * The result of an attempt:
 *
 * - `delivered`: the message was delivered. The outbox removes it.
 * - `obsolete`: the message is no longer needed. The outbox removes it.
 * - `failed`: the outbox tries again. The receiver's later messages wait for this message.
 * - `postponed`: the outbox delivers the receiver's other messages first, then tries again. Use
 *   this only if the order of messages does not matter.
 * - `refused`: the outbox does not try again. It keeps the message for an operator.
 *
 * The reason is stored and shown to operators, so it must not contain a secret.
 */
export type DeliveryResult =
  | { readonly outcome: 'delivered' | 'obsolete' }
  | { readonly outcome: 'failed' | 'postponed' | 'refused'; readonly reason: string };

/**
 * Delivers one message. May be called more than once for the same message. Must stop when the
 * signal aborts. If this function throws, the attempt has failed.
 */
export type Deliver = (message: OutboxMessage, signal: AbortSignal) => Promise<DeliveryResult>;

/** A message as operators see it: without its payload. */
export interface ListedMessage {
  /** The unique id of the message. */
  readonly id: string;
  /** The kind of message. */
  readonly kind: string;
  /** The receiver of the message. */
  readonly receiver: string;
  /**
   * The message's state. An `undelivered` message is retried only if an operator requests a retry.
   */
  readonly state: 'waiting' | 'undelivered';
  /** How many attempts have failed. */
  readonly attempts: number;
  /** The reason why the last attempt failed. Null if no attempt has failed. */
  readonly reason: string | null;
  /** When the message was added, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When the message expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Selects messages. */
export interface OutboxFilter {
  /** Only messages for this receiver, of any kind. */
  readonly receiver?: string;
  /** Only messages in this state. */
  readonly state?: ListedMessage['state'];
}

/** The number of messages in each state. */
export interface OutboxCounts {
  /** Messages that wait for delivery. */
  readonly waiting: number;
  /** Messages that were refused or have expired. The outbox removes them after a week. */
  readonly undelivered: number;
  /**
   * Messages that were dropped in the last month because too many were waiting for the same
   * receiver.
   */
  readonly dropped: number;
}
