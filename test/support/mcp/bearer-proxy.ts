import { createServer, request } from 'node:http';
import { once } from 'node:events';

/** A proxy on loopback that adds the bearer token, for callers that cannot send one. */
export interface BearerProxy {
  readonly url: string;
  close(): Promise<void>;
}

export async function startBearerProxy(port: number, target: string, token: string): Promise<BearerProxy> {
  const { hostname, port: targetPort } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const forwarded = request(
      {
        host: hostname,
        port: targetPort,
        path: incoming.url,
        method: incoming.method,
        headers: { ...incoming.headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(port, 'localhost');
  await once(server, 'listening');
  return {
    url: `http://localhost:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
