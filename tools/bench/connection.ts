import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  /** The status line and the headers, as received. */
  readonly head: string;
  readonly body: string;
}

/** How long a connection can be idle before the driver replaces it, in milliseconds. */
const IDLE = 2500;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A keep-alive connection to a server. It sends one request at a time. Node's own client would take
 * longer to send a request than the measured servers take to answer it.
 */
export class Connection {
  readonly #port: number;
  #socket: Socket;
  #received = '';
  #waiting: Waiting | null = null;
  #usedAt = performance.now();

  private constructor(port: number, socket: Socket) {
    this.#port = port;
    this.#socket = this.#listenTo(socket);
  }

  static async open(port: number): Promise<Connection> {
    return new Connection(port, await connected(port));
  }

  async request(sent: Sent): Promise<Answer> {
    // A server closes a connection that is idle for some seconds. The first connections are idle
    // while the others are prepared. Node waits five seconds, so replace a connection that was idle
    // for half of this time.
    if (
      this.#socket.closed ||
      this.#socket.readableEnded ||
      performance.now() - this.#usedAt > IDLE
    ) {
      this.#socket.destroy();
      this.#socket = this.#listenTo(await connected(this.#port));
    }
    const answer = await this.#send(sent);
    this.#usedAt = performance.now();
    return answer;
  }

  #send({ method, path, headers = {}, body = '' }: Sent): Promise<Answer> {
    let head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${this.#port}\r\n`;
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
    if (method === 'POST') head += `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(`${head}\r\n${body}`);
    });
  }

  #listenTo(socket: Socket): Socket {
    this.#received = '';
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#received += chunk.toString('latin1');
      this.#settle();
    });
    // Ignore the failure of a replaced connection. It does not affect the request that waits on the
    // new one.
    const fail = (error: Error) => {
      if (socket === this.#socket) this.#fail(error);
    };
    socket.on('close', () => fail(new Error('The server closed the connection')));
    socket.on('error', fail);
    return socket;
  }

  close(): void {
    this.#socket.destroy();
  }

  #settle(): void {
    const answer = answerIn(this.#received);
    if (answer === null) return;
    this.#received = '';
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(answer);
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error);
  }
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Returns the response if it is complete, or null. */
function answerIn(received: string): Answer | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.slice(0, end + 2);
  const status = Number(head.slice(9, 12));
  const rest = received.slice(end + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    return rest.length < Number(length)
      ? null
      : { status, head, body: rest.slice(0, Number(length)) };
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return { status, head, body: '' };
  const body = unchunked(rest);
  return body === null ? null : { status, head, body };
}

function unchunked(text: string): string | null {
  let body = '';
  let at = 0;
  for (;;) {
    const line = text.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(text.slice(at, line), 16);
    if (size === 0) return text.indexOf('\r\n', line + 2) < 0 ? null : body;
    const next = line + 2 + size + 2;
    if (text.length < next) return null;
    body += text.slice(line + 2, line + 2 + size);
    at = next;
  }
}

/** Returns the values of a header. */
export function headerValues(answer: Answer, name: string): readonly string[] {
  const prefix = `${name.toLowerCase()}:`;
  return answer.head
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(prefix))
    .map((line) => line.slice(prefix.length).trim());
}
