import {
  collectProfiles,
  withProfile,
} from '../../packages/portico/src/assembly/feature-profiles.ts';
import type { OAuthServerConfig } from '../../packages/portico/src/config.ts';
import { featuresWith } from '../../packages/portico/src/features.ts';
import type { Profiles } from '../../packages/portico/src/profiles.ts';

/** Returns the profiles of a server with this configuration, for tests. */
export function profilesWith(config: Partial<OAuthServerConfig> = {}): Profiles {
  const complete = { code_ttl: 60, ...config } as OAuthServerConfig;
  return collectProfiles(featuresWith(), withProfile(featuresWith(), complete));
}
