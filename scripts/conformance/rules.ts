import type { Chapter } from './rule.ts';
import { configuration } from './document-configuration.ts';
import { endpoints } from './document-endpoints.ts';
import { host } from './document-host.ts';
import { limits } from './document-limits.ts';
import { records } from './document-records.ts';
import { service } from './document-service.ts';
import { states } from './document-states.ts';
import { oidcCore } from './openid-connect.ts';
import { oidcDiscovery } from './openid-discovery.ts';
import { rfc6749Requests } from './rfc-6749-requests.ts';
import { rfc6749Responses } from './rfc-6749-responses.ts';
import { rfc9700Attacks } from './rfc-9700-attacks.ts';
import { rfc9700Recommendations } from './rfc-9700-recommendations.ts';
import { rfc7636, rfc8414, rfc8707, rfc9207 } from './rfc-requests.ts';
import { rfc6750, rfc7009, rfc7662 } from './rfc-tokens.ts';
import { authorizationRulings } from './rulings-authorization.ts';
import { storeRulings } from './rulings-store.ts';
import { tokenRulings } from './rulings-tokens.ts';

/** Every rule that we hold to, in the order of docs/conformance.md. */
export const CHAPTERS: readonly Chapter[] = [
  service,
  configuration,
  records,
  states,
  endpoints,
  host,
  limits,
  authorizationRulings,
  tokenRulings,
  storeRulings,
  rfc6749Requests,
  rfc6749Responses,
  rfc6750,
  rfc7009,
  rfc7662,
  rfc7636,
  rfc8414,
  rfc8707,
  rfc9207,
  rfc9700Recommendations,
  rfc9700Attacks,
  oidcCore,
  oidcDiscovery,
];
