import { readFileSync } from 'node:fs';
import { ConfigurationError } from './errors.ts';

/** The package that connects to a server. */
export interface Driver {
  readonly name: string;
  /** The oldest version that works. */
  readonly least: string;
}

/** What a message says is needed, such as `pg 8.11 or later`. */
export const needed = ({ name, least }: Driver) => `${name} ${least} or later`;

/**
 * Loads a driver. An application installs it only if it uses that engine. A missing driver is a
 * problem of `database_url`.
 */
export async function loadDriver<Module>({ name }: Driver, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message = `needs the package ${name}, which is not installed; run npm install ${name}`;
    throw new ConfigurationError([{ key: 'database_url', message }]);
  }
}

/**
 * Throws if the installed driver is too old. A missing driver is noticed later, when it is needed.
 */
export function refuseOldDriver(driver: Driver): void {
  const version = tooOld(driver);
  if (version === null) return;
  const [major] = driver.least.split('.');
  const message = `needs the package ${needed(driver)}; version ${version} is installed; run npm install ${driver.name}@${major}`;
  throw new ConfigurationError([{ key: 'database_url', message }]);
}

/**
 * Why a pool is refused, or null: the version of its driver, if that is too old. A pool does not
 * tell its version. If the driver that is installed here made the pool, its version counts. Any
 * other pool is judged by what it can do.
 */
export async function refusalOfOld(
  driver: Driver,
  load: () => Promise<{ readonly default: object }>,
  pool: object,
): Promise<string | null> {
  const version = tooOld(driver);
  if (version === null) return null;
  const loaded = await load().catch(() => null);
  const { Pool } = (loaded?.default ?? {}) as { readonly Pool?: unknown };
  return typeof Pool === 'function' && pool instanceof Pool ? `; this one is of version ${version}` : null;
}

/**
 * The installed version, if it is too old. Null also where the version is unknown, as in a bundle.
 */
function tooOld({ name, least }: Driver): string | null {
  try {
    const manifest = readFileSync(new URL(import.meta.resolve(`${name}/package.json`)), 'utf8');
    const { version } = JSON.parse(manifest) as { readonly version: string };
    return isBefore(version, least) ? version : null;
  } catch {
    return null;
  }
}

function isBefore(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** What messages about a server's URL say about the password. */
export const ESCAPES = '/ ? # @ and % of a password are written %2F %3F %23 %40 %25';
