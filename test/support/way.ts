import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { openDatabase, type OpenedDatabase } from 'portico';
import { onTestFinished } from 'vitest';

/** A connection to a database server that can hold back answers and statements, and can be cut. */
export interface Way {
  /** The URL of its near end. */
  readonly url: string;
  /** The store at its near end. */
  readonly database: OpenedDatabase;
  /** Whether answers are held back. */
  isHeld: boolean;
  /** Answers are held back once this was sent. */
  holdsFrom: string | null;
  /**
   * Holds back what is sent on the next connection that sends this, from there on, until it is
   * delivered: even after a cut.
   */
  delay(text: string): Delay;
  /** How often something was sent to the server. */
  sent: number;
  /** Ends every connection. */
  cut(): void;
}

/** Something that was sent and has not arrived. */
export interface Delay {
  /** Resolves once there is something to deliver. */
  readonly begun: Promise<void>;
  /** Sends it to the server; resolves once that has answered or closed the connection. */
  deliver(): Promise<void>;
  /** Ends its connection: it never arrives. */
  drop(): void;
}

/** Opens the store of a URL; its resources end with the test. */
export type StoreOpener = (url: string) => OpenedDatabase;

const openDatabaseAt: StoreOpener = (url) => openDatabase(url, { directory: '/' });

/** The held-back data of a connection. */
interface Delayed {
  readonly text: string;
  readonly begin: () => void;
  readonly chunks: Buffer[];
  far: Socket | null;
}

/**
 * Opens one to the database of this URL, until the test is finished, and a store at its near end.
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
      if (!way.isHeld) near.write(data);
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
