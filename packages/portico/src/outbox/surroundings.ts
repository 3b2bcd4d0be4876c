import type { Database, Log } from '@portico/sql';
import type { Deliver } from './message.ts';

/** The parts of the server that the outbox uses. */
export interface OutboxSurroundings {
  readonly database: Database;
  /** Whether any feature sends messages. If not, the database has no tables for the outbox. */
  readonly isOn: boolean;
  /** Returns the delivery function for each kind of message. */
  readonly deliveries: () => Readonly<Record<string, Deliver>>;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: () => number;
  readonly log: Log;
}
