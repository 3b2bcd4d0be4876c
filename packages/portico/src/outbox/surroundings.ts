import type { Database, Log } from '@portico/sql';
import type { Deliver } from './message.ts';

/** The parts of the server that the outbox uses. */
export interface OutboxSurroundings {
  readonly database: Database;
  /** True if any feature sends messages. Otherwise, the outbox has no tables. */
  readonly isOn: boolean;
  /** Returns the delivery functions by kind of message. */
  readonly deliveries: () => Readonly<Record<string, Deliver>>;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: () => number;
  readonly log: Log;
}
