import { ConfigurationError } from '../../contracts/errors.ts';

/** Loads a driver, which an application installs only if it uses that engine. A missing one is a problem of `database_url`. */
export async function loadDriver<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message = `needs the package ${name}, which is not installed; run npm install ${name}`;
    throw new ConfigurationError([{ key: 'database_url', message }]);
  }
}

/** What messages about a URL of any server say of its password. */
export const ESCAPES = '/ ? # @ and % of a password are written %2F %3F %23 %40 %25';
