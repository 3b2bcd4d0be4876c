import { defineFeature } from '../../feature.ts';
import { healthChecks } from './checks.ts';
import { healthShape, type HealthConfig } from './config.ts';
import { healthEndpoints, READY } from './endpoints.ts';
import { Health } from './health.ts';
import { healthPaths } from './paths.ts';
import { examineReadiness } from './public-readiness.ts';

/** The event that the kit emits when the process receives the signal to stop. */
const STOPPING = 'stopping';

declare module '../../authorization-server.ts' {
  interface FeatureMembers {
    /** Answers readiness probes. */
    readonly health: Health;
  }
}

/**
 * Adds two health probes. The liveness probe shows whether the process is alive. The readiness
 * probe shows whether the process is ready for requests.
 */
export const health = defineFeature({
  name: 'health',
  config: healthShape,
  start(server, { health: configured }) {
    const { mountPath, basePath, clock, host } = server;
    const probed = new Health(healthChecks(server), clock, host.log);
    return {
      members: () => ({ health: probed }),
      // If a probe is off, the application can use its path.
      plainEndpoints: healthEndpoints(probed, healthPaths(configured ?? false, mountPath)),
      examination: () => ({
        part: 'readiness',
        async publicFindings(application, fetchDocument, { origin, config }) {
          // By default, the kit adds the probes.
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
