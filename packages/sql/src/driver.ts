import { readFileSync } from 'node:fs';
import { ConfigurationError } from './errors.ts';

/** The npm package that Portico uses to connect to a server. */
export interface Driver {
  readonly name: string;
  /** The minimum version that Portico can use. */
  readonly least: string;
}

/** Returns the driver's name and minimum version for a message, for example `pg 8.11 or later`. */
export const needed = ({ name, least }: Driver) => `${name} ${least} or later`;

/**
 * Loads a driver. Reports a missing driver as a problem with `database_url`, because an application
 * installs only the driver that it uses.
 */
export async function loadDriver<Module>(
  { name }: Driver,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND')
      throw error;
    const message = `needs the package ${name}, which is not installed; run npm install ${name}`;
    throw new ConfigurationError([{ key: 'database_url', message }]);
  }
}

/**
 * Throws if the installed driver is too old. Ignores a missing driver, because `loadDriver` reports
 * it.
 */
export function refuseOldDriver(driver: Driver): void {
  const version = tooOld(driver);
  if (version === null) return;
  const [major] = driver.least.split('.');
  const message =
    `needs the package ${needed(driver)}, but version ${version} is installed; run npm install ` +
    `${driver.name}@${major}`;
  throw new ConfigurationError([{ key: 'database_url', message }]);
}

/**
 * If the driver of a pool is too old, returns the end of an error message that names its version.
 * Otherwise returns null. A pool does not report its version. If the installed driver created the
 * pool, this function checks the installed version. If not, it returns null, and other code checks
 * what the pool can do.
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
  return typeof Pool === 'function' && pool instanceof Pool ? `; this is version ${version}` : null;
}

/**
 * Returns the installed version if it is too old. Returns null if the version is recent enough or
 * unknown, for example in a bundle.
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

/** How to write a password in a URL. Part of the messages about a wrong `database_url`. */
export const ESCAPES = 'in a password, write / ? # @ and % as %2F %3F %23 %40 %25';
