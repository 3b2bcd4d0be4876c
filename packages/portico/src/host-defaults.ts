import { createArgon2id } from './defaults/argon2id.ts';
import { openLog } from './defaults/log.ts';
import { createViews, ownFolder, SHARED_VIEWS } from './defaults/views.ts';
import type { HostDefaults } from './complete-host.ts';

/** Returns the folder of the server's built-in views. */
export function builtInViews(): string {
  return ownFolder('views');
}

/**
 * The defaults for an application without the kit: the built-in views, a log on standard output,
 * and a hasher that computes one hash at a time.
 */
export const OWN_DEFAULTS: HostDefaults = {
  log: () => openLog({ file: 'stdout' }),
  passwordHasher: () => createArgon2id({ atOnce: 1 }),
  renderer() {
    const views = createViews([builtInViews(), SHARED_VIEWS]);
    return (view, data) => views.render(view, data);
  },
  clientAddress: () => null,
  audit: async () => {},
};
