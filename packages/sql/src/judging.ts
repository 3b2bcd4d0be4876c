import type { Pool } from './examinations.ts';
import { ok, warning, type Finding } from './findings.ts';

/** A server's settings by name. */
export interface Settings {
  /** Returns a setting. Throws if the server did not return it. */
  text(name: string): string;
  number(name: string): number;
  /** Returns a setting, or null if the server does not have it. */
  find(name: string): string | null;
}

export function toSettings(rows: readonly (readonly [name: string, value: unknown])[]): Settings {
  const values = new Map(rows.map(([name, value]) => [name.toLowerCase(), String(value)]));
  const text = (name: string): string => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`it names no ${name}`);
    return value;
  };
  return { text, number: (name) => Number(text(name)), find: (name) => values.get(name) ?? null };
}

/** Returns the findings without nulls, or one `ok` if there are none. */
export function orOk(findings: readonly (Finding | null)[], detail: string): readonly Finding[] {
  const found = findings.filter((each) => each !== null);
  return found.length > 0 ? found : [ok(detail)];
}

/** Reports for how many processes the server has enough connections. */
export function judgeRoom(connections: number, pool: Pool | null): Finding {
  if (pool === null) return ok(`the server has ${connections} connections for this account`);
  const processes = Math.floor(connections / pool.size);
  if (processes > 0) {
    return ok(
      `room for ${processes} ${processes === 1 ? 'process' : 'processes'} of this pool size: ` +
        `${connections} connections of the server, ${pool.size} each`,
    );
  }
  return warning(
    `the pool may open ${pool.size} connections, and the server allows ${connections}: under ` +
      'load, requests get 503',
    'make database_pool_size smaller, or max_connections larger',
  );
}

/**
 * Warns if normal load would exceed a server's time limit. Limits are in milliseconds. 0 means no
 * limit.
 */
export function judgeLimit(name: string, limit: number, least: number): Finding | null {
  if (limit <= 0 || limit >= least) return null;
  return warning(
    `${name} is ${limit} ms: the server ends what waits for others for a moment, and ` +
      'requests are answered 503',
    `let it be ${least} ms or more for this account, or 0`,
  );
}
