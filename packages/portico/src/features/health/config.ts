import { z } from 'zod';
import { basePathProblems } from '../../http/base-path.ts';

export const [LIVE, READY] = ['/health/live', '/health/ready'] as const;

const healthPath = z.union([
  z.literal(false),
  z.string().superRefine((path, context) => {
    const problem = healthPathProblem(path);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  }),
]);

/**
 * Returns why a probe cannot have this path, or null. An empty path would match the whole
 * application. The path must not be below `/oauth`, or have more than one spelling.
 */
function healthPathProblem(path: string): string | null {
  if (path === '') return 'must not be empty; to turn this probe off, set it to false';
  if (/^\/oauth(?:\/|$)/.test(path))
    return 'must not be below /oauth, which the other endpoints use';
  return basePathProblems(path)[0] ?? null;
}

const health = z.union(
  [
    z.boolean(),
    z
      .strictObject({ live: healthPath.optional(), ready: healthPath.optional() })
      .refine(
        ({ live = LIVE, ready = READY }) => live === false || live !== ready,
        'live and ready must be different paths',
      ),
  ],
  {
    error(issue) {
      if (typeof issue.input !== 'object') return 'must be true, false or { live, ready }';
      const [, ofObject = []] = issue.errors;
      return ofObject.map(({ path, message }) => [...path, message].join(': ')).join('; ');
    },
  },
);

export const healthShape = { health: health.optional() };

export interface HealthConfig {
  /**
   * The paths of the health probes, below `base_path`. `true` enables both probes, at
   * `/health/live` and `/health/ready`. `false` disables both. To change or disable a single probe,
   * use an object. In a kit application, both probes are enabled by default, unless the application
   * has its own routes with these paths. Without the kit, both are disabled by default.
   */
  readonly health?: boolean | HealthPathsInput | undefined;
}

/** The paths of the health probes, below `base_path`. */
export interface HealthPathsInput {
  /**
   * The path of the liveness probe, which tells whether the process responds. False disables this
   * probe. Default: `/health/live`.
   */
  readonly live?: string | false | undefined;
  /**
   * The path of the readiness probe, which tells whether the process can receive requests. False
   * disables this probe. Default: `/health/ready`.
   */
  readonly ready?: string | false | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends HealthConfig {}
  interface OAuthServerConfigInput extends HealthConfig {}
}
