import { createArgon2id } from '../host/argon2id.ts';
import { openLog } from '../host/log.ts';
import { BUILT_IN_VIEWS, createViews } from '../pages/views.ts';
import type { HostDefaults } from './complete-host.ts';

/**
 * The defaults without the kit: the built-in views, a log on standard output, and a hasher that
 * computes one hash at a time.
 */
export const OWN_DEFAULTS: HostDefaults = {
  log: () => openLog({ file: 'stdout' }),
  passwordHasher: () => createArgon2id({ atOnce: 1 }),
  renderer() {
    const views = createViews([BUILT_IN_VIEWS]);
    return (view, data) => views.render(view, data);
  },
  clientAddress: () => null,
  audit: async () => {},
};
