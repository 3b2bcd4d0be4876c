import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { OutboundOptions } from 'portico';

const folder = path.join(import.meta.dirname, '..', 'fixtures', 'tls');
const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');

/**
 * The certificate for `client.example`, `vendor.example`, all names below them, and `localhost`.
 * The server under test must trust it.
 */
export const DOCUMENTS_CA = read('documents-certificate.pem');
/** The file with the same certificate, for the variable NODE_EXTRA_CA_CERTS of a process. */
export const DOCUMENTS_CA_FILE = path.join(folder, 'documents-certificate.pem');

/** A web server that publishes client documents over https, on a loopback port. */
export interface DocumentHost {
  readonly port: number;
  /** Returns the URL of a path on a host name. `outbound` resolves the name to this web server. */
  url(path: string, host?: string): string;
  /** Publishes a document at this path. If the document has no `client_id`, adds its URL. */
  publish(path: string, document: object, headers?: Readonly<Record<string, string>>): string;
  /** Sets how to answer requests for this path. */
  answer(path: string, by: (request: IncomingMessage, response: ServerResponse) => void): string;
  /** The paths that were requested, in order. */
  readonly asked: readonly string[];
  /** Returns the number of connections. It includes connections without a request. */
  connections(): number;
  /** Options for the server under test. They resolve every host name to this machine. */
  readonly outbound: OutboundOptions;
  close(): Promise<void>;
}

export async function startDocumentHost(address = '127.0.0.1', at = 0): Promise<DocumentHost> {
  const answers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const asked: string[] = [];
  let connections = 0;
  const server: Server = createServer(
    { key: read('documents-key.pem'), cert: DOCUMENTS_CA },
    (request, response) => {
      asked.push(request.url ?? '');
      const by = answers.get(request.url ?? '');
      if (by === undefined) response.writeHead(404).end();
      else by(request, response);
    },
  );
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(at, address, resolve));
  const { port } = server.address() as AddressInfo;
  const url = (at: string, host = 'client.example') => `https://${host}:${port}${at}`;

  function answer(
    at: string,
    by: (request: IncomingMessage, response: ServerResponse) => void,
  ): string {
    answers.set(at, by);
    return url(at);
  }

  return {
    port,
    url,
    asked,
    answer,
    connections: () => connections,
    publish(at, document, headers = {}) {
      return answer(at, (request, response) => {
        const own = { client_id: `https://${request.headers.host ?? ''}${at}`, ...document };
        response
          .writeHead(200, { 'Content-Type': 'application/json', ...headers })
          .end(JSON.stringify(own));
      });
    },
    outbound: { ca: DOCUMENTS_CA, resolve: async () => [address] },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
