import { defineFeature } from '../../feature.ts';
import { healthChecks } from './checks.ts';
import { healthShape, type HealthConfig } from './config.ts';
import { healthEndpoints, READY } from './endpoints.ts';
import { Health } from './health.ts';
import { healthPaths } from './paths.ts';
import { examineReadiness } from './public-readiness.ts';

/** The name of the event that the kit emits when the process receives the signal to stop. */
const STOPPING = 'stopping';

declare module '../../authorization-server.ts' {
  interface FeatureMembers {
    /** Runs the checks for readiness probes. */
    readonly health: Health;
  }
}

/**
 * Adds two health probes. The liveness probe tells whether the process responds. The readiness
 * probe tells whether the process can receive requests.
 */
export const health = defineFeature({
  name: 'health',
  config: healthShape,
  start(server, { health: configured }) {
    const { mountPath, basePath, clock, host } = server;
    const probed = new Health(healthChecks(server), clock, host.log);
    return {
      members: () => ({ health: probed }),
      // If a probe is off, its endpoint does not exist, so the application can use the path.
      plainEndpoints: healthEndpoints(probed, healthPaths(configured ?? false, mountPath)),
      examination: () => ({
        part: 'readiness',
        async publicFindings(application, fetchDocument, { origin, config }) {
          // If the setting is missing, the probe exists only if the kit has added its route.
          const isOffered =
            (config as HealthConfig).health ?? application.hasRoute?.(READY) ?? false;
          const { ready } = healthPaths(isOffered, basePath);
          return ready === null ? [] : [await examineReadiness(`${origin}${ready}`, fetchDocument)];
        },
      }),
    };
  },
  register(application, server) {
    application.events.on(STOPPING, () => server.health.stop());
    if (!server.config.routes || server.config.health !== undefined) return;
    for (const { name, path, methods, handle } of healthEndpoints(
      server.health,
      healthPaths(true, server.mountPath),
    ))
      application.route({
        name,
        path,
        methods,
        yields: true,
        handler: (_, request) => handle(request),
      });
  },
});
