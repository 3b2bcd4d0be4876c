import type { Feature } from './feature.ts';
import { audit } from './features/audit/index.ts';
import { applications } from './features/applications/index.ts';
import { backChannelLogout } from './features/back-channel-logout/index.ts';
import { branding } from './features/branding/index.ts';
import { clientDocuments } from './features/client-documents/index.ts';
import { challenges } from './features/challenges/index.ts';
import { device } from './features/device/index.ts';
import { dpop } from './features/dpop/index.ts';
import { fapi2 } from './features/fapi2/index.ts';
import { formPost } from './features/form-post/index.ts';
import { jwtBearer } from './features/jwt-bearer/index.ts';
import { health } from './features/health/index.ts';
import { languages } from './features/languages/index.ts';
import { logout } from './features/logout/index.ts';
import { logos } from './features/logos/index.ts';
import { nativeLoopback } from './features/native-loopback/index.ts';
import { privateKeyJwt } from './features/private-key-jwt/index.ts';
import { openapi } from './features/openapi/index.ts';
import { optionalScopes } from './features/optional-scopes/index.ts';
import { pushedRequests } from './features/pushed-requests/index.ts';
import { reauthentication } from './features/reauthentication/index.ts';
import { refreshRetry } from './features/refresh-retry/index.ts';
import { registration } from './features/registration/index.ts';
import { rememberConsent } from './features/remember-consent/index.ts';
import { resources } from './features/resources/index.ts';
import { scopeGroups } from './features/scope-groups/index.ts';
import { signingAlgorithms } from './features/signing-algorithms/index.ts';
import { stepUp } from './features/step-up/index.ts';
import { telemetry } from './features/telemetry/index.ts';
import { trustedIssuers } from './features/trusted-issuers/index.ts';
import { unknownScopes } from './features/unknown-scopes/index.ts';
import { workloadIdentity } from './features/workload-identity/index.ts';

/** In the order in which they start. */
export const FEATURES: readonly Feature[] = [
  audit,
  registration,
  applications,
  logos,
  branding,
  challenges,
  stepUp,
  privateKeyJwt,
  pushedRequests,
  formPost,
  unknownScopes,
  optionalScopes,
  resources,
  device,
  trustedIssuers,
  jwtBearer,
  workloadIdentity,
  dpop,
  reauthentication,
  logout,
  rememberConsent,
  backChannelLogout,
  refreshRetry,
  nativeLoopback,
  scopeGroups,
  signingAlgorithms,
  fapi2,
  clientDocuments,
  health,
  languages,
  telemetry,
  openapi,
];

/** Returns Portico's features, then the application's own. */
export function featuresWith(own: readonly Feature[] = []): readonly Feature[] {
  return FEATURES.concat(own);
}
