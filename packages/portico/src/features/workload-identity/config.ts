import { trueOrFalse } from '../../config.ts';

export const workloadIdentityShape = {
  workload_identity: trueOrFalse.optional(),
};

export interface WorkloadIdentityConfig {
  /**
   * Whether clients can authenticate with a token from their platform instead of a secret. Examples
   * are a Kubernetes service account token and a SPIFFE JWT-SVID. Requires `trusted_issuers` with
   * `asserts: ['clients']`. Default: false.
   */
  readonly workload_identity?: boolean | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends WorkloadIdentityConfig {}
  interface OAuthServerConfigInput extends WorkloadIdentityConfig {}
}
