import { ConfigurationError } from '../errors.ts';
import { ESCAPES } from '../driver.ts';
import { describeCause, isRefused, isUnavailable } from '../failures.ts';
import type { Pool, PooledConnection } from '../pool.ts';
import { isError } from '../is-error.ts';

/** Which servers to use: those that accept writes, those that are not standbys, or all. */
export type Wanted = 'read-write' | 'primary' | 'any';

const WANTED: ReadonlySet<string> = new Set<Wanted>(['read-write', 'primary', 'any']);

/** One server in a URL. */
export interface PostgresHost {
  /** The host and port as the URL contains them, for messages. */
  readonly name: string;
  /** The database URL with only this server. */
  readonly url: string;
}

/** The servers in a PostgreSQL URL. */
export interface PostgresHosts {
  /** The servers, in the order in which Portico tries them. Never empty. */
  readonly hosts: readonly PostgresHost[];
  readonly wanted: Wanted;
}

/**
 * Captures four parts: everything before the hosts, the hosts, the path and the query. A password
 * must not contain `/`, `?` or `#`.
 */
const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?/;
/**
 * A host with or without a port. The host is a name, an IPv4 address, the folder of a socket
 * (`%2Fvar%2Frun`) or an IPv6 address.
 */
const HOST = /^(?:[^[\]:@\s]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i;

/**
 * Reads a PostgreSQL URL. The URL may contain several servers, as in libpq:
 * `postgres://user:password@a:5432,b:5433/database` with `?target_session_attrs=read-write`,
 * `primary` or `any`.
 *
 * The default for one server is `primary`, because a standby might accept revoked tokens. The
 * default for several servers is `read-write`. Throws a ConfigurationError for an invalid URL. Its
 * message does not repeat the URL, because the URL contains a password.
 */
export function readPostgresUrl(url: string): PostgresHosts {
  const [, start, authority = '', path = '', query = ''] = URL_PARTS.exec(url) ?? [];
  if (start === undefined)
    refuse(`must be a URL such as postgres://user:password@host:5432/database; ${ESCAPES}`);
  const parameters = new URLSearchParams(query);
  const attributes = parameters.get('target_session_attrs');
  if (attributes !== null && !WANTED.has(attributes))
    refuse(
      'must have target_session_attrs=read-write, primary or any, because Portico writes to ' +
        'the server that it reads from',
    );
  if (['host', 'port'].some((key) => parameters.get(key)?.includes(',')))
    refuse(
      'must list several servers before the path, not in a parameter: ' +
        'postgres://user:password@a:5432,b:5433/database',
    );
  const names = authority.split(',');
  const wanted = (attributes ?? (names.length > 1 ? 'read-write' : 'primary')) as Wanted;
  if (names.length === 1) requireUrl(url);
  else names.forEach(requireHost);
  if (names.length === 1 && attributes === null)
    return { hosts: [{ name: authority, url }], wanted };
  parameters.delete('target_session_attrs');
  const rest = `${path}${parameters.size === 0 ? '' : `?${parameters}`}`;
  return { hosts: names.map((name) => ({ name, url: `${start}${name}${rest}` })), wanted };
}

/**
 * Throws if `pg` would not accept the URL. `pg` accepts a URL without a host and then connects to a
 * socket.
 */
function requireUrl(url: string): void {
  if (!URL.canParse(url) && !URL.canParse(url.replace('@/', '@socket/')))
    refuse(`must be a URL such as postgres://user:password@host:5432/database; ${ESCAPES}`);
}

function requireHost(name: string, index: number, { length }: readonly string[]): void {
  const [match, port = '5432'] = HOST.exec(name) ?? [];
  if (match === undefined || Number(port) < 1 || Number(port) > 65_535)
    refuse(
      `lists ${length} servers, but server ${index + 1} is not written as host or host:port ` +
        `(write an IPv6 address in brackets); ${ESCAPES}`,
    );
}

function refuse(message: string): never {
  throw new ConfigurationError([{ key: 'database_url', message }]);
}

/**
 * The connections to one server. If the server does not have the required role, for example
 * primary, connecting fails with an "unavailable" error.
 */
export interface HostPool {
  readonly name: string;
  readonly pool: Pool;
}

/**
 * The connections to several servers. The current server is the one that provided the last
 * connection. If it provides none, Portico tries the next servers.
 */
export class HostsPool implements Pool {
  readonly #hosts: readonly HostPool[];
  #current = 0;

  constructor(hosts: readonly HostPool[]) {
    this.#hosts = hosts;
  }

  async connect(): Promise<PooledConnection> {
    const hosts = this.#hosts;
    const first = this.#current;
    const failures: Error[] = [];
    for (let step = 0; step < hosts.length; step += 1) {
      const index = (first + step) % hosts.length;
      const host = hosts[index] as HostPool;
      try {
        const connection = await host.pool.connect();
        // If another request has changed the current server in the meantime, do not change it
        // again.
        if (this.#current === first) this.#current = index;
        return connection;
      } catch (error) {
        if (!isError(error) || !isUnavailable(error) || isRefused(error)) throw error;
        // Do not try the next server, because the current server is only busy and still handles
        // other requests.
        if (isBusy(error) && this.#current === first) throw error;
        failures.push(new Error(`${host.name}: ${describeCause(error)}`, { cause: error }));
      }
    }
    const message =
      'None of the servers in database_url can be used: ' +
      failures.map((each) => each.message).join('; ');
    throw new AggregateError(failures, message);
  }

  async end(): Promise<void> {
    await Promise.all(this.#hosts.map(({ pool }) => pool.end()));
  }

  /**
   * Returns the current server's connection counts. Connections to earlier servers close after some
   * time.
   */
  figures() {
    return this.#hosts[this.#current]?.pool.figures?.() ?? { idle: null, most: null };
  }
}

/** Returns whether `pg` had no free connection before the time limit. */
function isBusy({ message }: Error): boolean {
  return message === 'timeout exceeded when trying to connect';
}
