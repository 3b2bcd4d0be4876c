import { quoted } from '../quoting.ts';

/** A message to add to the outbox. */
export interface NewMessage {
  /** The kind of message. A feature must list it in `Contribution.deliveries`. */
  readonly kind: string;
  /**
   * The receiver, for example a `client_id`: 1 to 255 characters. It receives its messages of one
   * kind in order. Exceptions: messages that are postponed or that an operator sends again.
   */
  readonly receiver: string;
  /**
   * The data for the delivery function, up to 65536 characters. The store contains it as plain
   * text, so it must not contain a secret, a token or a code. Create or read these when the message
   * is delivered.
   */
  readonly payload: string;
  /**
   * When the message expires, in milliseconds since 1970. The outbox does not deliver expired
   * messages.
   */
  readonly expiresAt: number;
}

const LONGEST = { receiver: 255, payload: 65_536 } as const;

/** Returns why this message cannot be added, or null. The reason never contains the payload. */
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
   * The id of the message. It is the same in every attempt, so receivers can recognize duplicates.
   */
  readonly id: string;
  /** The receiver of the message. */
  readonly receiver: string;
  /** The payload of the `NewMessage`. */
  readonly payload: string;
  /** When the message was added, in milliseconds since 1970. */
  readonly createdAt: number;
  /** How many attempts have failed or were postponed. */
  readonly attempts: number;
}

/**
 * The result of an attempt:
 *
 * - `delivered`: the outbox removes the message.
 * - `obsolete`: the message is no longer needed. The outbox removes it.
 * - `failed`: the outbox tries again. Later messages for the same receiver wait.
 * - `postponed`: the outbox first delivers the receiver's other messages, then tries again. Use
 *   this only if the order of messages does not matter.
 * - `refused`: the outbox does not try again and keeps the message for an operator.
 *
 * The store contains the first 200 characters of the reason, and operators can see them. The reason
 * must not contain a secret.
 */
export type DeliveryResult =
  | { readonly outcome: 'delivered' | 'obsolete' }
  | { readonly outcome: 'failed' | 'postponed' | 'refused'; readonly reason: string };

/**
 * Delivers one message. The outbox may call it more than once for the same message. The signal
 * aborts after ten seconds. The function must then stop, and the attempt has failed. An attempt
 * also fails if the function throws.
 */
export type Deliver = (message: OutboxMessage, signal: AbortSignal) => Promise<DeliveryResult>;

/** A message as operators see it, without the payload. */
export interface ListedMessage {
  /** The unique id of the message. */
  readonly id: string;
  /** The kind of message. */
  readonly kind: string;
  /** The receiver of the message. */
  readonly receiver: string;
  /** The outbox tries an `undelivered` message again only if an operator requests this. */
  readonly state: 'waiting' | 'undelivered';
  /** How many attempts have failed or were postponed. */
  readonly attempts: number;
  /**
   * Why the last attempt did not deliver the message, or that the message has expired. Otherwise
   * null.
   */
  readonly reason: string | null;
  /** When the message was added, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When the message expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Selects messages in the outbox. */
export interface OutboxFilter {
  /** Selects only messages for this receiver, of any kind. */
  readonly receiver?: string;
  /** Selects only messages in this state. */
  readonly state?: ListedMessage['state'];
}

/** How many messages are in each state. */
export interface OutboxCounts {
  /** Messages that are waiting for delivery. */
  readonly waiting: number;
  /**
   * Messages that were refused or have expired. Kept for one week, at most 1000 of one kind for
   * each receiver.
   */
  readonly undelivered: number;
  /**
   * Messages that were dropped because too many were waiting for the same receiver. Counted until
   * an operator discards the receiver's messages. The count also ends if the receiver has no
   * messages and got its last one more than a month ago.
   */
  readonly dropped: number;
}
