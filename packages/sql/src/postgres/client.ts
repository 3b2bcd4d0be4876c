import type { PoolClient } from 'pg';

/**
 * The properties that are read from a connection. Its driver may be another version than these
 * types.
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
 * Returns why the connection cannot be used, or null if it can. The text follows the needed version
 * in a message.
 */
export function getRefusal(client: PoolClient): string | null {
  const { connection, pipeline, getTypeParser } = client as unknown as GivenClient;
  if (connection?.['stream'] === undefined) return '; pg-native cannot be used';
  if (pipeline === true) return ' without its option pipeline';
  const missing =
    typeof getTypeParser !== 'function' ||
    ASKED.some((name) => typeof connection[name] !== 'function');
  return missing ? '; this one lacks what is needed' : null;
}
