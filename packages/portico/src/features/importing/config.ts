import { z } from 'zod';

/** About a second of a processor core. */
const MOST_ITERATIONS = 4_000_000;

/** The key of `oauth_server` that importing adds. */
export const importingShape = {
  imported_pbkdf2_iterations: z
    .int({ error: 'must be a whole number of iterations' })
    .min(0, 'must be at least 0, which takes no such hash')
    .max(MOST_ITERATIONS, `must be at most ${MOST_ITERATIONS}`)
    .optional(),
};

export interface ImportingConfig {
  /**
   * How many iterations of PBKDF2-HMAC-SHA256 the hash of an imported client secret may have
   * (`oauth:client:import`). Every secret that this process has not seen yet costs as many, so that
   * the time tells nothing; 0, which refuses such hashes.
   */
  readonly imported_pbkdf2_iterations?: number | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends ImportingConfig {}
  interface OAuthServerConfigInput extends ImportingConfig {}
}
