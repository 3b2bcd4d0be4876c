import type { Pool } from './examinations.ts';
import { ok, warning, type Finding } from './findings.ts';

/** The settings of a database server, by name. */
export interface Settings {
  /** Returns the value of a setting. Throws if the server did not return the setting. */
  text(name: string): string;
  number(name: string): number;
  /** Returns the value of a setting, or null if the server does not have the setting. */
  find(name: string): string | null;
}

export function toSettings(rows: readonly (readonly [name: string, value: unknown])[]): Settings {
  const values = new Map(rows.map(([name, value]) => [name.toLowerCase(), String(value)]));
  const text = (name: string): string => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`the server reports no ${name}`);
    return value;
  };
  return { text, number: (name) => Number(text(name)), find: (name) => values.get(name) ?? null };
}

/**
 * Returns the findings that are not null. If all are null, returns one finding `ok` with this
 * detail.
 */
export function orOk(findings: readonly (Finding | null)[], detail: string): readonly Finding[] {
  const found = findings.filter((each) => each !== null);
  return found.length > 0 ? found : [ok(detail)];
}

/** Reports how many processes can connect before the server runs out of connections. */
export function judgeRoom(connections: number, pool: Pool | null): Finding {
  if (pool === null) return ok(`the server allows ${connections} connections for this account`);
  const processes = Math.floor(connections / pool.size);
  if (processes > 0) {
    return ok(
      `the server allows ${connections} connections: enough for ${processes} ` +
        `${processes === 1 ? 'process' : 'processes'} with a pool of ${pool.size}`,
    );
  }
  return warning(
    `the pool can open ${pool.size} connections, but the server allows only ` +
      `${connections}: under load, requests get 503`,
    'reduce database_pool_size, or increase max_connections',
  );
}

/**
 * Returns a warning if this time limit of the server is too short for a normal load. Returns null
 * otherwise. Limits are in milliseconds. 0 means no limit.
 */
export function judgeLimit(name: string, limit: number, least: number): Finding | null {
  if (limit <= 0 || limit >= least) return null;
  return warning(
    `${name} is only ${limit} ms: the server cancels statements that wait briefly for other ` +
      'statements, and requests get 503',
    `set it to at least ${least} ms for this account, or to 0 (no limit)`,
  );
}
