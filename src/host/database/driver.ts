import { readFileSync } from 'node:fs';
import { ConfigurationError } from '../../contracts/errors.ts';

/** The oldest version of each driver that is enough. */
const LEAST = { pg: '8.11', mysql2: '3.9' } as const;

type DriverName = keyof typeof LEAST;

/** What a message says is needed, such as `pg 8.11 or later`. */
export const needed = (name: DriverName) => `${name} ${LEAST[name]} or later`;

/** Loads a driver, which an application installs only if it uses that engine. A missing one is a problem of `database_url`. */
export async function loadDriver<Module>(name: DriverName, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message = `needs the package ${name}, which is not installed; run npm install ${name}`;
    throw new ConfigurationError([{ key: 'database_url', message }]);
  }
}

/** Refuses the driver that is installed if it is too old. One that is missing is noticed when it is needed. */
export function refuseOldDriver(name: DriverName): void {
  const version = tooOld(name);
  if (version === null) return;
  const [major] = LEAST[name].split('.');
  const message = `needs the package ${needed(name)}; version ${version} is installed; run npm install ${name}@${major}`;
  throw new ConfigurationError([{ key: 'database_url', message }]);
}

/**
 * Why a pool is refused, after what is needed: the version of its driver, if that is too old. A pool tells none: it is that of the
 * driver that is installed here, if the pool is made by that one. Any other is judged by what it can do.
 */
export async function refusalOfOld(
  name: DriverName,
  load: () => Promise<{ readonly default: object }>,
  pool: object,
): Promise<string | null> {
  const version = tooOld(name);
  if (version === null) return null;
  const driver = await load().catch(() => null);
  const { Pool } = (driver?.default ?? {}) as { readonly Pool?: unknown };
  return typeof Pool === 'function' && pool instanceof Pool ? `; this one is of version ${version}` : null;
}

/** The version that is installed, if it is too old; null also where nothing tells it, as in a bundle. */
function tooOld(name: DriverName): string | null {
  try {
    const manifest = readFileSync(new URL(import.meta.resolve(`${name}/package.json`)), 'utf8');
    const { version } = JSON.parse(manifest) as { readonly version: string };
    return isBefore(version, LEAST[name]) ? version : null;
  } catch {
    return null;
  }
}

function isBefore(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** What messages about a URL of any server say of its password. */
export const ESCAPES = '/ ? # @ and % of a password are written %2F %3F %23 %40 %25';
