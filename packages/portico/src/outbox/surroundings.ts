import type { Database, Log } from '@portico/sql';
import type { Deliver } from './message.ts';

/** The parts of a server that the outbox uses. */
export interface OutboxSurroundings {
  readonly database: Database;
  /** Whether any feature sends messages. If not, the outbox has no tables. */
  readonly isOn: boolean;
  /** Returns the function that delivers each kind of message. */
  readonly deliveries: () => Readonly<Record<string, Deliver>>;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: () => number;
  readonly log: Log;
}
