import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import path from 'node:path';
import { AT_ONCE, callAll, hangUpAll } from './calls.ts';
import { DOCUMENTS_CA_FILE } from '../document-host.ts';
import { freePort } from '../free-port.ts';
import { backChannelLogout } from './back-channel-logout.ts';
import { DOORS } from './doors.ts';
import { OPERATING } from './operating.ts';
import { organizations } from './organizations.ts';
import type { Steering } from './path.ts';

/** The kit's own server. It is tested in addition to the mounts of other frameworks. */
export const KIT = '@portico/kit';

/**
 * The mounts in the soak test: the kit, and one mount for each framework. The first ones are one
 * mount for each way to mount.
 */
export const SOAKED: readonly string[] = [
  KIT,
  'a session in an encrypted cookie, by portico/fetch',
  'portico/express',
  'portico/fastify',
  'Hono, with encrypted sessions',
  'Next',
  'portico/node',
  'portico/koa',
  'Nest on Express',
  'Nest on Fastify',
];

export interface Endpoint {
  readonly resource: string;
  readonly token: string;
}

/** The message that the tested process sends when it listens. */
export interface Soaked {
  /** Two MCP endpoints. One answers with JSON, and the other streams. */
  readonly json: Endpoint;
  readonly streaming: Endpoint;
  /** The address of the first endpoint's server. Its API is at `/api/orders`. */
  readonly url: string;
  /** A client with `client_credentials`. Its scopes are `mcp:service` and `orders:read`. */
  readonly service: { readonly id: string; readonly secret: string };
  /** A public client, for people. */
  readonly native: string;
  /** The key that signs ID tokens. If the mount supports a KeySigner, it is the KeySigner's key. */
  readonly signedBy: string;
  /** A client that authenticates with assertions, and its private key (ES256, in PEM). */
  readonly signer: { readonly id: string; readonly key: string };
  /** The id of a public client for devices. */
  readonly device: string;
  /**
   * A client that receives logout tokens, and its `backchannel_logout_uri` on this machine. Null
   * except in the kit.
   */
  readonly told: { readonly id: string; readonly secret: string; readonly uri: string } | null;
  /**
   * A client to which an organization gives access to Ada's account, and the organization's private
   * key (ES256, as PEM). Null where the host cannot look up people.
   */
  readonly organization: Readonly<Record<'id' | 'secret' | 'key' | 'kid', string>> | null;
}

/**
 * A command for the process. The process can report the size of its heap, collect the metrics,
 * answer when this many calls wait for their callers to disconnect, or move its clock. It responds
 * with a number.
 */
export type Asked =
  'heap' | 'collect' | { readonly waiting: number } | { readonly advance: number };

export interface SoakOptions {
  /** The mount: one of SOAKED, or another one. */
  readonly mount: string;
  /**
   * The number of MCP calls to measure in each mode, after some unmeasured calls. Other paths get a
   * share of this number.
   */
  readonly calls: number;
  /** The size of the process's heap, in MiB. */
  readonly heap: number;
  /** The paths to use. Default: all. */
  readonly paths?: readonly PathName[];
}

/**
 * How much each call adds to the heap, in bytes: the slope of a line through several measurements,
 * with its standard error.
 */
export interface Growth {
  readonly bytes: number;
  readonly error: number;
}

/** How many calls of each path take as long as one MCP call. */
const SHARES = {
  JSON: 1,
  streaming: 1,
  'hung up': 1,
  registration: 1 / 4,
  documents: 1 / 6,
  challenges: 1 / 4,
  refresh: 1 / 6,
  signing: 1 / 6,
  devices: 1 / 6,
  logout: 1 / 6,
  'back-channel logout': 1 / 6,
  organizations: 1 / 6,
  administration: 1 / 8,
  health: 1 / 2,
  audit: 1 / 4,
  telemetry: 1 / 4,
  'ID tokens': 1 / 6,
} as const;

export type PathName = keyof typeof SHARES;

export const PATHS = Object.keys(SHARES) as readonly PathName[];

/** How many times to measure the heap after the first measurement. */
const MEASURES = 5;
const WARM_UP = 100;
/** The server keeps a hundred documents. Until then, each call adds one, which is no leak. */
const WARM_UP_OF_DOCUMENTS = 100;

/**
 * Uses every path of a process with a small heap, and measures how much the heap grows. Rejects if
 * a response is wrong.
 */
export async function soak(options: SoakOptions): Promise<ReadonlyMap<PathName, Growth>> {
  const { mount, calls, heap, paths = PATHS } = options;
  const child = fork(path.join(import.meta.dirname, 'soaked.ts'), [mount], {
    execArgv: ['--expose-gc', `--max-old-space-size=${heap}`],
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: DOCUMENTS_CA_FILE,
      LOGOUT_URI: `https://localhost:${await freePort()}/logout`,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const ended = new AbortController();
  const exit = once(child, 'exit').then(([code, signal]: unknown[]) =>
    ended.abort(new Error(`The process under soak ended with ${String(code ?? signal)}`)),
  );
  const told = async () => {
    const [message] = (await once(child, 'message', { signal: ended.signal })) as [unknown];
    return message;
  };
  const ask = async (asked: Asked) => {
    const answer = told();
    child.send(asked);
    return Number(await answer);
  };
  const leftBehind = async (
    measured: number,
    go: (calls: number) => Promise<void>,
    warmUp: number,
  ): Promise<Growth> => {
    const each = Math.max(1, Math.round(measured / MEASURES));
    await go(Math.max(each, warmUp));
    const points: Point[] = [[0, await ask('heap')]];
    for (let gone = each; points.length <= MEASURES; gone += each) {
      await go(each);
      points.push([gone, await ask('heap')]);
    }
    return slopeOf(points);
  };
  try {
    const soaked = (await told()) as Soaked;
    const { json, streaming } = soaked;
    const steering: Steering = {
      advance: (seconds) => ask({ advance: seconds }),
      collect: () => ask('collect'),
    };
    const grown = new Map<PathName, Growth>();
    for (const name of paths) {
      const way =
        name === 'JSON' || name === 'streaming'
          ? at((count) => callAll(name === 'JSON' ? json : streaming, agent, count))
          : name === 'hung up'
            ? at((count) => hangUpAll([json, streaming], count, (waiting) => ask({ waiting })))
            : await {
                ...DOORS,
                ...OPERATING,
                organizations,
                'back-channel logout': backChannelLogout,
              }[name](soaked, steering);
      try {
        const measured = calls * SHARES[name];
        const warmUp =
          name === 'documents'
            ? WARM_UP_OF_DOCUMENTS
            : Math.min(WARM_UP, Math.round(measured * 1.5));
        grown.set(name, await leftBehind(measured, (count) => way.go(count), warmUp));
      } finally {
        await way.close();
      }
    }
    return grown;
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    agent.destroy();
    if (child.connected) child.disconnect();
    await exit;
  }
}

const at = (go: (calls: number) => Promise<void>) => ({ go, close: async () => {} });

type Point = readonly [calls: number, heap: number];

/** Returns the slope, by least squares. */
function slopeOf(points: readonly Point[]): Growth {
  const mean = (of: (point: Point) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [calls, heap] = [mean(([x]) => x), mean(([, y]) => y)];
  const spread = points.length * mean(([x]) => (x - calls) ** 2);
  const bytes = (points.length * mean(([x, y]) => (x - calls) * (y - heap))) / spread;
  const rest = points.length * mean(([x, y]) => (y - heap - bytes * (x - calls)) ** 2);
  return { bytes, error: Math.sqrt(rest / (points.length - 2) / spread) };
}
