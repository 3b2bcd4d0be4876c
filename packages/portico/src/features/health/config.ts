import { z } from 'zod';
import { basePathProblems } from '../../http/base-path.ts';

const healthPath = z.union([
  z.literal(false),
  z.string().superRefine((path, context) => {
    const problem = healthPathProblem(path);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  }),
]);

/** A path that is written in exactly one way. The empty path would be the whole application. */
function healthPathProblem(path: string): string | null {
  if (path === '') return 'must not be empty; set false to switch it off';
  if (/^\/oauth(?:\/|$)/.test(path)) return 'must not be below /oauth, where the other endpoints are';
  return basePathProblems(path)[0] ?? null;
}

const health = z.union(
  [
    z.boolean(),
    z
      .strictObject({ live: healthPath.optional(), ready: healthPath.optional() })
      .refine(
        ({ live = '/health/live', ready = '/health/ready' }) => live === false || live !== ready,
        'live and ready must be two paths',
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

/** The key of `oauth_server` that health probes add. */
export const healthShape = { health: health.optional() };

export interface HealthConfig {
  /**
   * Where probes ask whether the process is alive and whether it is ready, below `base_path`: `{
   * live: '/health/live', ready: '/health/ready' }`. Each may be another path, or false. `true`
   * means these two paths, `false` neither. With the kit these two, unless your application has
   * routes there; in a mount none.
   */
  readonly health?: boolean | HealthPathsInput | undefined;
}

/** Paths for probes, below `base_path`. */
export interface HealthPathsInput {
  /** Whether the process answers; `/health/live`. */
  readonly live?: string | false | undefined;
  /** Whether the process should get requests; `/health/ready`. */
  readonly ready?: string | false | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends HealthConfig {}
  interface OAuthServerConfigInput extends HealthConfig {}
}
