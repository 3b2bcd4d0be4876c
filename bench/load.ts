import { Agent, request } from 'node:http';

/** What a run of requests took. Latencies are in milliseconds. */
export interface Measured {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
}

export interface Sending {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LoadOptions {
  readonly connections: number;
  readonly requests: number;
  /** Sent before anything is measured. */
  readonly warmUp: number;
}

/** Sends so many requests over so many connections, each its next one when the last is answered; every answer is 200. */
export async function measure(sending: Sending, options: LoadOptions): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections });
  try {
    await send(agent, sending, options.connections, options.warmUp);
    const began = performance.now();
    const latencies = await send(agent, sending, options.connections, options.requests);
    const seconds = (performance.now() - began) / 1000;
    const sorted = latencies.toSorted((one, other) => one - other);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return {
      requests: sorted.length,
      perSecond: sorted.length / seconds,
      p50: at(0.5),
      p99: at(0.99),
      slowest: at(1),
    };
  } finally {
    agent.destroy();
  }
}

async function send(agent: Agent, sending: Sending, connections: number, total: number): Promise<number[]> {
  const latencies: number[] = [];
  let left = total;
  const connection = async () => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      await once(agent, sending);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return latencies;
}

function once(agent: Agent, { url, method, headers, body }: Sending): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      response.resume();
      response.once('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${url} was answered ${response.statusCode}`));
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
