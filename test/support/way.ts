import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { openDatabase, type OpenedDatabase } from 'portico/host';
import { onTestFinished } from 'vitest';

/** A way to a database server on which answers can be kept back, and that can be cut. */
export interface Way {
  /** The URL of its end here. */
  readonly url: string;
  /** The store at its end. */
  readonly database: OpenedDatabase;
  /** Whether answers are kept back. */
  isHeld: boolean;
  /** Answers are kept back once this was sent. */
  holdsFrom: string | null;
  /** How often something was sent to the server. */
  sent: number;
  /** Ends every connection. */
  cut(): void;
}

/** Opens the store of a URL; what belongs to it ends with the test. */
export type StoreOpener = (url: string) => OpenedDatabase;

const openDatabaseAt: StoreOpener = (url) => openDatabase(url, { directory: '/' });

/** Opens one to the database of this URL, until the test is finished, and a store at its end. */
export async function openWay(target: string, openStore: StoreOpener = openDatabaseAt): Promise<Way> {
  const url = new URL(target);
  const { port } = url;
  const sockets = new Set<Socket>();
  const listener = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
    near.on('data', (data) => {
      way.sent += 1;
      if (way.holdsFrom !== null && data.includes(way.holdsFrom)) way.isHeld = true;
      far.write(data);
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
    cut() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      way.holdsFrom = null;
    },
  };
  onTestFinished(async () => {
    await database.close();
    way.cut();
    listener.close();
  });
  await database.execute('SELECT 1');
  return way;
}
