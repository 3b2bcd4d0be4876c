import path from 'node:path';
import type { ConfigMap } from 'portico';
import { ROOT, start, type RunningProcess } from './console.ts';
import { type RunningPortal } from './portal.ts';
import { freePort } from './free-port.ts';

/**
 * Starts another process that serves the portal, with the same database and key directory. `env`
 * overrides its environment, and `config` overrides the portal's configuration.
 */
export async function startBeside(
  one: RunningPortal,
  env: Readonly<Record<string, string>> = {},
  config: ConfigMap | null = null,
): Promise<{ readonly other: RunningPortal; readonly process: RunningProcess }> {
  const port = String(await freePort());
  const process = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
    cwd: path.join(ROOT, config === null ? 'examples/portal' : 'test/fixtures/configured-portal'),
    env: {
      ...one.env,
      PORT: port,
      PUBLIC_URL: one.url,
      ...(config === null ? {} : { PORTAL_CONFIG: JSON.stringify(config) }),
      ...env,
    },
  });
  await process.says('Listening on');
  return { other: { ...one, url: `http://localhost:${port}` }, process };
}
