import { ConfigurationError } from '../errors.ts';
import { ESCAPES } from '../driver.ts';
import { isUnavailable } from '../failures.ts';
import type { Pool, PooledConnection } from '../pool.ts';

/** Which servers are used: those that may be written to, those that are no standby, or all. */
export type Wanted = 'read-write' | 'primary' | 'any';

const WANTED: ReadonlySet<string> = new Set<Wanted>(['read-write', 'primary', 'any']);

/** A server of a URL. */
export interface PostgresHost {
  /** Host and port as they stand in the URL, for messages. */
  readonly name: string;
  /** The URL as it were with this server alone. */
  readonly url: string;
}

/** What a URL of PostgreSQL names. */
export interface PostgresHosts {
  /** In the order in which they are tried, one at least. */
  readonly hosts: readonly PostgresHost[];
  readonly wanted: Wanted;
}

/** The beginning with what is before the host, the hosts, the rest; a password has no `/`, `?` or `#` in it. */
const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?/;
/** A name, an IPv4 address or the folder of a socket (`%2Fvar%2Frun`); or an IPv6 address; and a port. */
const HOST = /^(?:[^[\]:@\s]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i;

/**
 * Reads a URL of PostgreSQL, which may name several servers, as libpq takes it: `postgres://user:password@a:5432,b:5433/database`
 * with `?target_session_attrs=read-write`, `primary` or `any`; by itself one server may be any but a standby, which would answer with
 * tokens that are revoked, and several have to be writable. Throws a ConfigurationError for any other; its message has nothing of
 * the URL in it, which has a password.
 */
export function readPostgresUrl(url: string): PostgresHosts {
  const [, start, authority = '', path = '', query = ''] = URL_PARTS.exec(url) ?? [];
  if (start === undefined)
    refuse(`is no URL such as postgres://user:password@host:5432/database; ${ESCAPES}`);
  const parameters = new URLSearchParams(query);
  const attributes = parameters.get('target_session_attrs');
  if (attributes !== null && !WANTED.has(attributes))
    refuse('may have target_session_attrs=read-write, primary or any: Portico reads where it writes');
  if (['host', 'port'].some((key) => parameters.get(key)?.includes(',')))
    refuse(
      'names several servers before its path, not as a parameter: postgres://user:password@a:5432,b:5433/database',
    );
  const names = authority.split(',');
  const wanted = (attributes ?? (names.length > 1 ? 'read-write' : 'primary')) as Wanted;
  if (names.length === 1) requireUrl(url);
  else names.forEach(requireHost);
  if (names.length === 1 && attributes === null) return { hosts: [{ name: authority, url }], wanted };
  parameters.delete('target_session_attrs');
  const rest = `${path}${parameters.size === 0 ? '' : `?${parameters}`}`;
  return { hosts: names.map((name) => ({ name, url: `${start}${name}${rest}` })), wanted };
}

/** As `pg` reads it, which takes one without a host for a socket. */
function requireUrl(url: string): void {
  if (!URL.canParse(url) && !URL.canParse(url.replace('@/', '@socket/')))
    refuse(`is no URL such as postgres://user:password@host:5432/database; ${ESCAPES}`);
}

function requireHost(name: string, index: number, { length }: readonly string[]): void {
  const [match, port = '5432'] = HOST.exec(name) ?? [];
  if (match === undefined || Number(port) < 1 || Number(port) > 65_535)
    refuse(
      `names ${length} servers, of which the ${index + 1}. is neither host nor host:port (an IPv6 address stands in brackets); ${ESCAPES}`,
    );
}

function refuse(message: string): never {
  throw new ConfigurationError([{ key: 'database_url', message }]);
}

/** A server's connections; they reject as unavailable when the server is none of those that are wanted. */
export interface HostPool {
  readonly name: string;
  readonly pool: Pool;
}

/**
 * The connections of several servers, of which one is the current one: that which the last connection was had from. Another one is
 * asked when it gives none.
 */
export function createHostsPool(hosts: readonly HostPool[]): Pool {
  let current = 0;
  return {
    async connect(): Promise<PooledConnection> {
      const first = current;
      const failures: Error[] = [];
      for (let step = 0; step < hosts.length; step += 1) {
        const index = (first + step) % hosts.length;
        const host = hosts[index] as HostPool;
        try {
          const connection = await host.pool.connect();
          // Meanwhile others may have found it, or the next one.
          if (current === first) current = index;
          return connection;
        } catch (error) {
          if (!(error instanceof Error) || !isUnavailable(error)) throw error;
          // It answers others: there is nothing wrong with it but that it has much to do.
          if (isBusy(error) && current === first) throw error;
          failures.push(new Error(`${host.name}: ${error.message}`, { cause: error }));
        }
      }
      const message = `No server of database_url can be used: ${failures.map((each) => each.message).join('; ')}`;
      throw new AggregateError(failures, message);
    },
    async end() {
      await Promise.all(hosts.map(({ pool }) => pool.end()));
    },
    // Those of the servers before a take-over end by themselves: what counts is the one that is used.
    figures: () => hosts[current]?.pool.figures?.() ?? { idle: null, most: null },
  };
}

/** `pg` had no connection free in time. */
function isBusy({ message }: Error): boolean {
  return message === 'timeout exceeded when trying to connect';
}
