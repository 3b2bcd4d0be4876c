import { LIVE, READY, type HealthConfig } from './config.ts';

/** The paths of the health probes. If a probe is disabled, its path is null. */
export interface HealthPaths {
  readonly live: string | null;
  readonly ready: string | null;
}

/**
 * Returns the paths that `oauth_server:health` configures, with the mount path in front of them.
 */
export function healthPaths(
  configured: NonNullable<HealthConfig['health']>,
  mountPath: string,
): HealthPaths {
  if (configured === false) return { live: null, ready: null };
  const { live = LIVE, ready = READY } = configured === true ? {} : configured;
  const mounted = (path: string | false) => (path === false ? null : `${mountPath}${path}`);
  return { live: mounted(live), ready: mounted(ready) };
}
