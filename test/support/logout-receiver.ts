import { startDocumentHost, type DocumentHost } from './document-host.ts';

/** Clients that logout tokens are posted to, over https on a loopback port. */

/** What one client received. */
export interface LogoutReceiver {
  /** The client's `backchannel_logout_uri`. */
  readonly url: string;
  /** The received logout tokens, in order. */
  readonly tokens: string[];
  /** The content types and bodies of all requests, in order. */
  readonly requests: { readonly type: string; readonly body: string }[];
  /** The status of the next answers, 200 by default. With 0, there is no answer. */
  status: number;
  /** Returns the status of the answer to a token. By default, `status`. */
  answers: (token: string) => number;
  /** Waits until this many tokens were received. Rejects if the receivers are closed first. */
  has(count: number): Promise<void>;
}

export interface LogoutReceivers extends Pick<DocumentHost, 'outbound' | 'url' | 'close'> {
  /** Receives logout tokens at this path. */
  receive(path: string): LogoutReceiver;
}

export async function startLogoutReceivers(): Promise<LogoutReceivers> {
  const host = await startDocumentHost();
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});
  return {
    outbound: host.outbound,
    url: (path, name) => host.url(path, name),
    close() {
      closed.reject(new Error('The receivers were closed'));
      return host.close();
    },
    receive(path) {
      const waiting: (() => void)[] = [];
      const receiver: LogoutReceiver = {
        url: host.url(path),
        tokens: [],
        requests: [],
        status: 200,
        answers: () => receiver.status,
        async has(count) {
          while (receiver.tokens.length < count) {
            const { promise, resolve } = Promise.withResolvers<void>();
            waiting.push(resolve);
            await Promise.race([promise, closed.promise]);
          }
        },
      };
      host.answer(path, (request, response) => {
        let body = '';
        request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
        request.on('end', () => {
          const type = request.headers['content-type'] ?? '';
          receiver.requests.push({ type, body });
          const token = new URLSearchParams(body).get('logout_token') ?? '';
          receiver.tokens.push(token);
          const status = receiver.answers(token);
          if (status !== 0) response.writeHead(status, { Location: '/elsewhere' }).end();
          for (const resolve of waiting.splice(0)) resolve();
        });
      });
      return receiver;
    },
  };
}
