import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import {
  configurationWith,
  createAuthorizationServer,
  defineFeature,
  migrate,
  migrationsWith,
  openDatabase,
  type AuthorizationServer,
  type DeliveryResult,
  type Feature,
  type LogContext,
  type OpenedDatabase,
} from 'portico';

/**
 * The kind of messages that the feature below sends to a receiver over HTTP. The functions below
 * create a server with the feature.
 */

export const KIND = 'note';
const SECTION = { name: 'App', scopes: {} };
const DAY = 86_400_000;

/**
 * Posts each message to the URL. The status 400 refuses the message, 410 makes it obsolete, 425
 * postpones it, 298 makes the delivery throw, and 299 is no outcome.
 */
export function sendingTo(url: string): Feature {
  return defineFeature({
    name: 'sending',
    sendsMessages: () => true,
    start: () => ({
      deliveries: {
        [KIND]: async ({ id, receiver, payload }, signal) => {
          const headers = { 'X-Id': id, 'X-Receiver': receiver };
          const sent = { method: 'POST', headers, body: payload, signal };
          const answer = await fetch(url, sent).catch(() => null);
          if (answer === null) return { outcome: 'failed', reason: 'the receiver does not answer' };
          await answer.arrayBuffer();
          if (answer.status === 400) return { outcome: 'refused', reason: 'the answer is 400' };
          if (answer.status === 298) throw new Error('the answer is 298');
          if (answer.status === 299) return { outcome: 'unknown' } as unknown as DeliveryResult;
          if (answer.status === 410) return { outcome: 'obsolete' };
          if (answer.status === 425) return { outcome: 'postponed', reason: 'the answer is 425' };
          return answer.ok
            ? { outcome: 'delivered' }
            : { outcome: 'failed', reason: `the answer is ${answer.status}` };
        },
      },
    }),
  });
}

export interface SendingServer {
  readonly server: AuthorizationServer;
  readonly database: OpenedDatabase;
  /** The warnings in the log, with their values. */
  readonly warnings: readonly string[];
  /** The values of the errors in the log. */
  readonly errors: readonly (LogContext | undefined)[];
  /** Adds messages in a separate transaction. */
  send(receiver: string, ...payloads: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

/** Opens a server on the database. `clock` returns milliseconds since 1970. */
export async function openSending(
  databaseUrl: string,
  folder: string,
  receiver: string,
  clock: () => number = Date.now,
): Promise<SendingServer> {
  const features = [sendingTo(receiver)];
  const config = configurationWith(features).parse({
    ...SECTION,
    key_path: path.join(folder, 'keys'),
  });
  const database = openDatabase(databaseUrl, { directory: folder });
  await migrate(database, migrationsWith(config, features));
  const warnings: string[] = [];
  const errors: (LogContext | undefined)[] = [];
  const server = createAuthorizationServer({
    publicUrl: 'https://app.example',
    config,
    database,
    features,
    clock,
    host: {
      signedIn: async () => null,
      loadAccount: async () => null,
      holdsPermission: async () => false,
      loginUrl: '/login',
      log: {
        debug() {},
        info() {},
        warning: (message, values) => void warnings.push(`${message} ${JSON.stringify(values)}`),
        error: (_, values) => void errors.push(values),
      },
    },
  });
  const { outbox } = server;
  return {
    server,
    database,
    warnings,
    errors,
    async send(to, ...payloads) {
      const messages = payloads.map((payload) => ({
        kind: KIND,
        receiver: to,
        payload,
        expiresAt: clock() + DAY,
      }));
      const dropped = await database.transaction((connection) => outbox.add(connection, messages));
      outbox.wake();
      return dropped;
    },
    async close() {
      await outbox.stop();
      await database.close();
    },
  };
}

export interface Received {
  readonly id: string;
  readonly receiver: string;
  readonly payload: string;
  readonly at: number;
}

/** Receives messages. `answers` returns the status for each of them. Default: 200. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The maximum number of messages that one receiver received at the same time. */
  atOnce: number;
  answers: (received: Received) => number | Promise<number>;
  /** Waits until this many messages have arrived. Rejects if the receiver is closed first. */
  has(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const open = new Map<string, number>();
  const waiting: (() => void)[] = [];
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});
  const listening = createServer((request, response) => void answer(request, response));
  const receiver: Receiver = {
    url: '',
    received: [],
    atOnce: 0,
    answers: () => 200,
    async has(count) {
      while (receiver.received.length < count) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.push(resolve);
        await Promise.race([promise, closed.promise]);
      }
    },
    async close() {
      closed.reject(new Error('The receiver was closed'));
      listening.close();
      listening.closeAllConnections();
      await once(listening, 'close');
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { 'x-id': id, 'x-receiver': to } = request.headers;
    let payload = '';
    for await (const piece of request.setEncoding('utf8')) payload += String(piece);
    const got = { id: String(id), receiver: String(to), payload, at: performance.now() };
    open.set(got.receiver, (open.get(got.receiver) ?? 0) + 1);
    receiver.atOnce = Math.max(receiver.atOnce, open.get(got.receiver) ?? 0);
    receiver.received.push(got);
    const status = await receiver.answers(got);
    open.set(got.receiver, (open.get(got.receiver) ?? 0) - 1);
    response.writeHead(status).end();
    for (const resolve of waiting.splice(0)) resolve();
  }

  await once(listening.listen(0, '127.0.0.1'), 'listening');
  const { port } = listening.address() as AddressInfo;
  return Object.assign(receiver, { url: `http://127.0.0.1:${port}/` });
}

// Delivers messages until the process ends, if this file is started as a process.
if (import.meta.main) {
  const [databaseUrl = '', folder = '', receiver = ''] = process.argv.slice(2);
  const { server } = await openSending(databaseUrl, folder, receiver);
  server.outbox.start();
  setInterval(() => {}, 60_000);
  process.stdout.write('Delivering\n');
}
