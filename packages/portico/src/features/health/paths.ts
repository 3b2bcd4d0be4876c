import type { HealthConfig } from './config.ts';

/** Where probes ask; null for what is not offered. */
export interface HealthPaths {
  readonly live: string | null;
  readonly ready: string | null;
}

/** As `oauth_server:health` says, behind what stands before every path. */
export function healthPaths(configured: NonNullable<HealthConfig['health']>, mountPath: string): HealthPaths {
  if (configured === false) return { live: null, ready: null };
  const { live = '/health/live', ready = '/health/ready' } = configured === true ? {} : configured;
  const mounted = (path: string | false) => (path === false ? null : `${mountPath}${path}`);
  return { live: mounted(live), ready: mounted(ready) };
}
