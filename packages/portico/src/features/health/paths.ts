import { LIVE, READY, type HealthConfig } from './config.ts';

/** The path of a disabled probe is null. */
export interface HealthPaths {
  readonly live: string | null;
  readonly ready: string | null;
}

/** Returns the configured paths with the mount path in front. */
export function healthPaths(
  configured: NonNullable<HealthConfig['health']>,
  mountPath: string,
): HealthPaths {
  if (configured === false) return { live: null, ready: null };
  const { live = LIVE, ready = READY } = configured === true ? {} : configured;
  const mounted = (path: string | false) => (path === false ? null : `${mountPath}${path}`);
  return { live: mounted(live), ready: mounted(ready) };
}
