/**
 * Functions for packages that extend Portico. They cover HTTP, texts, views, limits and rules for
 * clients. Within a minor version, they do not change.
 */
export { CodeExchange, type CodeRules } from './grants/code-exchange.ts';
export { requirePerson } from './grants/held-access.ts';
export { isYes, type Visitor } from './host/accounts.ts';
export { StartedApplication } from './application/application.ts';
export { STANDARD_OUTPUT, applicationName } from './application/configuration.ts';
export { Event, type HostEvents } from './application/events.ts';
export type { SignInLinks } from './application/sign-in-links.ts';
export { EVENT_TYPES } from './auditing/event-types.ts';
export { shownPerson } from './authorization/page-data.ts';
export { checkNewClient } from './clients/checking.ts';
export { authenticationMetadata } from './clients/client-metadata.ts';
export { isClientUrl, getTokens } from './clients/client-source.ts';
export { CLIENT_AUTHENTICATION_METHODS } from './clients/credentials.ts';
export { clientPages } from './clients/listing.ts';
export { applicationTypeFor } from './clients/metadata.ts';
export { newClient } from './clients/new-client.ts';
export { redirectUriProblem } from './clients/redirect-uris.ts';
export { comesFrom, isVerified } from './clients/who-asks.ts';
export { withReturn } from './assembly/complete-host.ts';
export { check, failing, isHealthy, ok, skipped, warning } from './console/checks.ts';
export { orFail } from './console/commands/or-fail.ts';
export { everyClient, livingClients } from './console/every-client.ts';
export { SCHEMA_PENDING, isSchemaPending } from './console/program/pending-schema.ts';
export { OAUTH_SERVER } from './console/open-server.ts';
export { configurationChecks, printReport } from './console/report.ts';
export { hasHalves, jsonText, wellFormedJson } from './http/json.ts';
export { personProblem, samePerson } from './person.ts';
export { isDay, readSpan } from './console/spans.ts';
export { keyedHash, randomToken } from './crypto.ts';
export { createArgon2id } from './host/argon2id.ts';
export { FairQueue } from './host/fair-queue.ts';
export { builtInFolder } from './pages/views.ts';
export { AuthorizationPageError, HostTimeoutError } from './errors.ts';
export { formToken, isFormToken } from './host/form-token.ts';
export { prefersPage } from './http/accept.ts';
export { EXPOSED_HEADERS } from './http/added-headers.ts';
export { canonicalAddress, findNetwork } from './http/addresses.ts';
export { cookieNameBelow } from './http/base-path.ts';
export { readAuthorization, isBearerRequest, parseScheme } from './http/bearer.ts';
export { readBytes } from './http/body.ts';
export { currentCaller, runAsCaller } from './http/caller.ts';
export {
  type BindingOffer,
  type BindingRefusal,
  answerFields,
  bindingRefusal,
  challenges,
} from './http/challenges.ts';
export { equalInConstantTime } from './http/constant-time.ts';
export { currentRequestId, runInContext, withCurrentRequestId } from './http/context.ts';
export { sentCookies } from './http/cookies.ts';
export { DPOP_SCHEME, dpopOffer } from './http/dpop.ts';
export { type AttemptKey, FailedAttempts } from './http/failed-attempts.ts';
export { inTime } from './http/in-time.ts';
export { isLoopback } from './http/loopback.ts';
export { acceptsByName, readMediaType } from './http/media-types.ts';
export { Note } from './http/note.ts';
export { allowedFields } from './http/preflight.ts';
export { publicCacheControl } from './http/public-cache.ts';
export { RecentMap } from './http/recent-map.ts';
export {
  REQUEST_ID_HEADER,
  madeWithRequestId,
  nameRequest,
  newRequestId,
  getRequestId,
  withRequestId,
} from './http/request-id.ts';
export { isLiteralTarget, readPath } from './http/request-target.ts';
export { comesFromHere, isSentFromHere } from './http/same-origin.ts';
export { throttleLog } from './http/throttle-log.ts';
export { type DpopProof, DpopProofError, checkDpopProof } from './keys/jws/dpop-proof.ts';
export { VERIFIED_ALGORITHMS } from './keys/jws/public-keys.ts';
export { formParameters, queryParameters, type Parameters } from './parameters.ts';
export { quoted, quotedList, quotedPublic } from './quoting.ts';
export { ownPageReply, redirectReply } from './endpoints/replies/pages.ts';
export {
  type AuthenticationDemand,
  type AuthenticationRequirement,
  type ToldAuthentication,
  authenticationProblem,
  demandParameters,
  readRequirement,
} from './resource/authentication-requirement.ts';
export { askedDemands, type ClientDemand } from './store/client-demands.ts';
export { hasExpired } from './store/client-expiry.ts';
export type { ClientMetadata } from './store/client.ts';
export { countRows } from './store/sql/counting.ts';
export { NewAuthorizations, type NewAuthorization } from './store/sql/new-authorizations.ts';
export type { PageKey } from './pages/english.ts';
export { escapeHtml } from './pages/markup.ts';
export { noteWish } from './pages/speaking.ts';
export { type Said, type Words, page, told } from './pages/words.ts';
export { OutOfRangeError, pendingSteps } from '@portico/sql';
