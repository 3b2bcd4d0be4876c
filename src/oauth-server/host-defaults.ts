import path from 'node:path';
import { createArgon2id } from '../defaults/argon2id.ts';
import { openLog } from '../defaults/log.ts';
import { createViews } from '../defaults/views.ts';
import type { HostDefaults } from './complete-host.ts';

/** The folder of the server's own views. In the published package this code is bundled into a folder beside `oauth-server`. */
export function builtInViews(): string {
  return path.join(import.meta.dirname, '..', 'oauth-server', 'views');
}

/** For a server without the kit: its own views, a log on standard output, and hashes one at a time. */
export const OWN_DEFAULTS: HostDefaults = {
  log: () => openLog({ file: 'stdout' }),
  passwordHasher: () => createArgon2id({ atOnce: 1 }),
  renderer() {
    const views = createViews([builtInViews()]);
    return (view, data) => views.render(view, data);
  },
  audit: async () => {},
};
