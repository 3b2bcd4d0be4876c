import type { PoolClient } from 'pg';

/**
 * The properties that Portico reads from a connection. The version of the application's `pg` may
 * differ from the version of the types here.
 */
interface GivenClient {
  readonly connection?: Readonly<Record<string, unknown>>;
  readonly pipeline?: boolean;
  readonly getTypeParser?: unknown;
}
const ASKED = [
  'parse',
  'bind',
  'describe',
  'execute',
  'close',
  'sync',
  'query',
  'prependListener',
] as const;

/**
 * Returns the reason why the connection is not usable, or null if it is usable. In messages, the
 * text follows the required version.
 */
export function getRefusal(client: PoolClient): string | null {
  const { connection, pipeline, getTypeParser } = client as unknown as GivenClient;
  if (connection?.['stream'] === undefined) return '; pg-native cannot be used';
  if (pipeline === true) return ' without its option pipeline';
  const missing =
    typeof getTypeParser !== 'function' ||
    ASKED.some((name) => typeof connection[name] !== 'function');
  return missing ? '; the connections of this pool lack functions that Portico needs' : null;
}
