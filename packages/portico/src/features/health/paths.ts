import { LIVE, READY, type HealthConfig } from './config.ts';

/** The paths of the probes. A path is null if the probe is disabled. */
export interface HealthPaths {
  readonly live: string | null;
  readonly ready: string | null;
}

/** Returns the paths from `oauth_server:health`, below the mount path. */
export function healthPaths(
  configured: NonNullable<HealthConfig['health']>,
  mountPath: string,
): HealthPaths {
  if (configured === false) return { live: null, ready: null };
  const { live = LIVE, ready = READY } = configured === true ? {} : configured;
  const mounted = (path: string | false) => (path === false ? null : `${mountPath}${path}`);
  return { live: mounted(live), ready: mounted(ready) };
}
