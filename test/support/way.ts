import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { openDatabase, type OpenedDatabase } from 'portico';
import { onTestFinished } from 'vitest';

/**
 * A connection to a database server. A test can hold back its statements and responses, or cut it.
 */
export interface Way {
  /** The URL of the end near to the test. */
  readonly url: string;
  /** The store at the near end. */
  readonly database: OpenedDatabase;
  /** Whether responses are held back. */
  isHeld: boolean;
  /**
   * When a statement contains this text, the connection holds back all later responses. Null to
   * hold back none.
   */
  holdsFrom: string | null;
  /**
   * Waits for the next connection that sends this text, and holds back everything from there on.
   * The test can deliver the data even after a cut.
   */
  delay(text: string): Delay;
  /**
   * The server receives the next statement that contains this text, but its response is replaced by
   * this answer. Then the connection ends if `ends` is true. Null to replace none.
   */
  replaces: { readonly text: string; readonly answer: Buffer; readonly ends?: boolean } | null;
  /** The number of messages that were sent to the server. */
  sent: number;
  /** Ends all connections. */
  cut(): void;
}

/** Data that was sent but has not arrived. */
export interface Delay {
  /** Resolves when there is data to deliver. */
  readonly begun: Promise<void>;
  /**
   * Sends the data to the server. Resolves when the server has answered or closed the connection.
   */
  deliver(): Promise<void>;
  /** Ends the connection, so that the data never arrives. */
  drop(): void;
}

/** Opens the store at a URL, and closes it when the test ends. */
export type StoreOpener = (url: string) => OpenedDatabase;

const openDatabaseAt: StoreOpener = (url) => openDatabase(url, { directory: '/' });

/** The data that a connection holds back. */
interface Delayed {
  readonly text: string;
  readonly begin: () => void;
  readonly chunks: Buffer[];
  far: Socket | null;
}

/**
 * Opens a connection to the database at this URL, and a store at its near end. Both end when the
 * test has finished.
 */
export async function openWay(
  target: string,
  openStore: StoreOpener = openDatabaseAt,
): Promise<Way> {
  const url = new URL(target);
  const { port } = url;
  const sockets = new Set<Socket>();
  const late = new Set<Socket>();
  let next: Delayed | null = null;
  const listener = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    let delayed: Delayed | null = null;
    let replacement: Way['replaces'] = null;
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        if (delayed === null || other === near) other.destroy();
      });
    }
    near.on('data', (data) => {
      way.sent += 1;
      if (way.holdsFrom !== null && data.includes(way.holdsFrom)) way.isHeld = true;
      if (way.replaces !== null && data.includes(way.replaces.text)) {
        replacement = way.replaces;
        way.replaces = null;
      }
      if (next !== null && data.includes(next.text)) {
        [delayed, next] = [next, null];
        delayed.far = far;
        late.add(far);
        sockets.delete(far);
        delayed.begin();
      }
      if (delayed === null) far.write(data);
      else delayed.chunks.push(data);
    });
    far.on('data', (data) => {
      if (!way.isHeld) near.write(replacement?.answer ?? data);
      if (replacement?.ends === true) near.end();
      replacement = null;
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  url.port = String((listener.address() as AddressInfo).port);
  const database = openStore(url.href);
  const way: Way = {
    url: url.href,
    database,
    isHeld: false,
    holdsFrom: null,
    replaces: null,
    sent: 0,
    delay(text) {
      const begun = Promise.withResolvers<void>();
      const delayed: Delayed = { text, begin: () => begun.resolve(), chunks: [], far: null };
      next = delayed;
      return {
        begun: begun.promise,
        async deliver() {
          const { far, chunks } = delayed;
          if (far === null) throw new Error(`Nothing was sent that has ${text}`);
          const answered = Promise.race([once(far, 'data'), once(far, 'close')]);
          far.write(Buffer.concat(chunks));
          await answered;
          far.destroy();
        },
        drop: () => void delayed.far?.destroy(),
      };
    },
    cut() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      way.holdsFrom = null;
    },
  };
  onTestFinished(async () => {
    await database.close();
    way.cut();
    for (const socket of late) socket.destroy();
    listener.close();
  });
  await database.execute('SELECT 1');
  return way;
}
