/** A message to add to the outbox. */
export interface NewMessage {
  /** The kind of message. The feature that adds it delivers it (`Contribution.deliveries`). */
  readonly kind: string;
  /** Who receives it, such as a `client_id`. Each receiver gets its messages in order. */
  readonly receiver: string;
  /**
   * What the delivery needs. It is stored as text, so it must not contain a secret, a token or a
   * code: sign or fetch these at delivery time.
   */
  readonly payload: string;
  /** When the message is no longer worth a delivery, in milliseconds since 1970. */
  readonly expiresAt: number;
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
 * The result of an attempt. `failed` is tried again later. `refused` is not: the message is set
 * aside for an operator. `obsolete` means that no one waits for the message any more, so it is
 * removed. The reason is stored and shown to operators: it must not contain a secret.
 */
export type DeliveryResult =
  | { readonly outcome: 'delivered' | 'obsolete' }
  | { readonly outcome: 'failed' | 'refused'; readonly reason: string };

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
