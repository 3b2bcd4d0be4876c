import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A loopback address that forwards connections to one server at a time, like a proxy in front of
 * several servers.
 */
export interface Address {
  readonly port: number;
  /** Whether to hold back the server's responses. They are lost if the connection ends. */
  isHeld: boolean;
  /** Ends all connections. New connections use this port, or fail if it is null. */
  leadTo(port: number | null): void;
  close(): Promise<void>;
}

export async function openAddress(target: number | null = null): Promise<Address> {
  let leadsTo = target;
  const sockets = new Set<Socket>();
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const listener = createServer((near) => {
    if (leadsTo === null) {
      near.destroy();
      return;
    }
    const far = connect(leadsTo, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    near.on('data', (data) => far.write(data));
    far.on('data', (data) => {
      if (!address.isHeld) near.write(data);
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address: Address = {
    port: (listener.address() as AddressInfo).port,
    isHeld: false,
    leadTo(port) {
      leadsTo = port;
      cut();
    },
    async close() {
      listener.close();
      cut();
      await once(listener, 'close');
    },
  };
  return address;
}
