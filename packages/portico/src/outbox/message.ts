import { quoted } from '../quoting.ts';

/** A message to add to the outbox. */
export interface NewMessage {
  /** The kind of message: a name in the `Contribution.deliveries` of a feature. */
  readonly kind: string;
  /**
   * Who receives it, such as a `client_id`: 1 to 255 characters. Each receiver gets its messages in
   * order.
   */
  readonly receiver: string;
  /**
   * What the delivery needs: at most 65,536 characters. It is stored as text, so it must not
   * contain a secret, a token or a code: sign or fetch these at delivery time.
   */
  readonly payload: string;
  /** When the message is no longer worth a delivery, in milliseconds since 1970. */
  readonly expiresAt: number;
}

const LONGEST = { receiver: 255, payload: 65_536 } as const;

/** Returns why this message cannot be added, or null. It never contains the payload. */
export function messageProblem(
  { kind, receiver, payload, expiresAt }: NewMessage,
  delivered: Readonly<Record<string, Deliver>>,
): string | null {
  if (!Object.hasOwn(delivered, kind))
    return `The kind of a message must be one that a feature delivers, which ${quoted(kind)} is not`;
  if (receiver === '') return 'The receiver of a message must not be empty';
  for (const [name, text] of Object.entries({ receiver, payload })) {
    const most = LONGEST[name as keyof typeof LONGEST];
    if (typeof text !== 'string' || text.length > most)
      return `The ${name} of a message must be a text of at most ${most} characters`;
    if (!text.isWellFormed() || text.includes('\0'))
      return `The ${name} of a message must be well-formed Unicode without NUL`;
  }
  return Number.isSafeInteger(expiresAt)
    ? null
    : 'The expiresAt of a message must be a whole number of milliseconds since 1970';
}

/** A message that is to be delivered now. */
export interface OutboxMessage {
  /** Its unique id. It is the same at each attempt, so receivers can recognise duplicates. */
  readonly id: string;
  /** Who receives it. */
  readonly receiver: string;
  /** What was added. */
  readonly payload: string;
  /** When it was added, in milliseconds since 1970. */
  readonly createdAt: number;
  /** How many attempts have failed. */
  readonly attempts: number;
}

/**
 * The result of an attempt. The outbox tries a `failed` message again, and later messages wait for
 * it. It tries a `postponed` message again after the receiver's other messages: use this if their
 * order does not matter. It does not try a `refused` message again, but sets it aside for an
 * operator. It removes an `obsolete` message, because no one waits for it any more. The reason is
 * stored and shown to operators: it must not contain a secret.
 */
export type DeliveryResult =
  | { readonly outcome: 'delivered' | 'obsolete' }
  | { readonly outcome: 'failed' | 'postponed' | 'refused'; readonly reason: string };

/**
 * Delivers one message. It can be called again with the same message, also after it was delivered.
 * It must stop when the signal aborts. If it throws, the attempt has failed.
 */
export type Deliver = (message: OutboxMessage, signal: AbortSignal) => Promise<DeliveryResult>;

/** A message as operators see it. Its payload is not shown. */
export interface ListedMessage {
  /** Its unique id. */
  readonly id: string;
  /** The kind of message. */
  readonly kind: string;
  /** Who receives it. */
  readonly receiver: string;
  /** `undelivered` is not tried again until an operator says so. */
  readonly state: 'waiting' | 'undelivered';
  /** How many attempts have failed. */
  readonly attempts: number;
  /** The reason of the last failure. Null if there was none. */
  readonly reason: string | null;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Which messages to list. */
export interface OutboxFilter {
  /** Only messages for this receiver, of any kind. */
  readonly receiver?: string;
  /** Only messages in this state. */
  readonly state?: ListedMessage['state'];
}

/** How many messages there are. */
export interface OutboxCounts {
  /** Messages that are to be delivered. */
  readonly waiting: number;
  /** Messages that were refused, or expired. They are removed after a week. */
  readonly undelivered: number;
  /** Messages that were not accepted because their receiver had too many, in the last month. */
  readonly dropped: number;
}
