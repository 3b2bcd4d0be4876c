import { defineFeature } from '../../feature.ts';
import { healthChecks } from './checks.ts';
import { healthShape, type HealthConfig } from './config.ts';
import { healthEndpoints, READY } from './endpoints.ts';
import { Health } from './health.ts';
import { healthPaths } from './paths.ts';
import { examineReadiness } from './public-readiness.ts';

/** The kit emits this event when the process receives the signal to stop. */
const STOPPING = 'stopping';

declare module '../../authorization-server.ts' {
  interface FeatureMembers {
    /** Runs the checks for readiness probes. */
    readonly health: Health;
  }
}

/**
 * Adds a liveness probe, which tells that the process responds, and a readiness probe, which tells
 * that it can receive requests.
 */
export const health = defineFeature({
  name: 'health',
  config: healthShape,
  start(server, { health: configured }) {
    const { mountPath, basePath, clock, host } = server;
    const probed = new Health(healthChecks(server), clock, host.log);
    return {
      members: () => ({ health: probed }),
      // A probe that is off has no endpoint, so the application can use its path.
      plainEndpoints: healthEndpoints(probed, healthPaths(configured ?? false, mountPath)),
      examination: () => ({
        part: 'readiness',
        async publicFindings(application, fetchDocument, { origin, config }) {
          // Without the setting, the probe exists only if the kit has added its route.
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
