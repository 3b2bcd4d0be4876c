import type { Database, Log } from '@portico/sql';
import type { Deliver } from './message.ts';

/** What the outbox needs of a server. */
export interface OutboxSurroundings {
  readonly database: Database;
  /** Whether any feature sends messages. Otherwise there are no tables. */
  readonly isOn: boolean;
  /** Returns what delivers each kind of message. */
  readonly deliveries: () => Readonly<Record<string, Deliver>>;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: () => number;
  readonly log: Log;
}
