import { JwsError, type JsonObject } from '../jws/compact.ts';
import type { TrustedIssuer } from './trusted-issuer.ts';

/**
 * Checks the header and the claims of an assertion. Each function throws a JwsError for an invalid
 * assertion.
 */

/** For `iss`, `sub` and `jti`, in characters. */
const LONGEST_TEXT = 255;
/** In seconds. The server must store an assertion's `jti` until the assertion expires. */
const LONGEST_LIFE = 86_400;
/**
 * These header parameters bring or name a key. The server uses only keys from the configured
 * location.
 */
const KEYS_IN_HEADER = ['jwk', 'jku', 'x5u', 'x5c'] as const;

/**
 * The allowed `typ` of a workload's token, in lower case. Kubernetes tokens have no `typ`. A
 * JWT-SVID may have `JWT` or `JOSE` (JWT-SVID section 2.3). The last value comes from
 * draft-ietf-oauth-rfc7523bis.
 */
const WORKLOAD_TYPES: readonly unknown[] = [undefined, 'jwt', 'jose', 'client-authentication+jwt'];

/**
 * Claims of access tokens, ID tokens or logout tokens. Such a token can have the same `typ` as a
 * workload's token. The server refuses it (RFC 8725 section 3.12).
 */
const CLAIMS_OF_OTHERS = [
  'scope',
  'scp',
  'nonce',
  'at_hash',
  'c_hash',
  'auth_time',
  'events',
] as const;

/** Throws for another `typ` (RFC 8725 section 3.11), or if the header contains a key. */
export function requireHeader(header: JsonObject, type: string): void {
  if (header['typ'] !== type) throw new JwsError(`its typ is not ${type}`);
  requireNoKey(header);
}

/** Throws if no workload's token may have this `typ`, or if the header contains a key. */
export function requireWorkloadHeader(header: JsonObject): void {
  const { typ } = header;
  const type = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  if (!WORKLOAD_TYPES.includes(type))
    throw new JwsError('its typ belongs to another kind of token');
  requireNoKey(header);
}

/** Throws if a claim shows that the token is not for a workload. */
export function requireWorkloadClaims(claims: JsonObject): void {
  const found = CLAIMS_OF_OTHERS.find((name) => Object.hasOwn(claims, name));
  if (found !== undefined) throw new JwsError(`it has ${found}, so it is another kind of token`);
}

function requireNoKey(header: JsonObject): void {
  const found = KEYS_IN_HEADER.find((name) => Object.hasOwn(header, name));
  if (found !== undefined) throw new JwsError(`its header has ${found}, which is not accepted`);
}

/** Returns the `kid`, or null. */
export function readKeyId({ kid }: JsonObject): string | null {
  if (kid === undefined) return null;
  if (typeof kid !== 'string') throw new JwsError('its kid is not a string');
  return kid;
}

/** Throws unless the claim is a string of 1 to 255 characters without NUL. */
export function requireText(claims: JsonObject, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  const isText =
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= LONGEST_TEXT &&
    value.isWellFormed() &&
    !value.includes('\0');
  if (isText) return value;
  throw new JwsError(
    `its ${name} is missing, or not a string of at most ${LONGEST_TEXT} characters`,
  );
}

/** Accepts exactly this audience, as a string or as the only item in a list. */
export function requireAudience({ aud }: JsonObject, audience: string): void {
  const [only, ...more]: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (only !== audience || more.length > 0)
    throw new JwsError('its aud must be only the issuer of this server');
}

/**
 * Throws unless `tenant` is the configured one. If none is configured, the claim must not exist.
 */
export function requireTenant({ tenant }: JsonObject, expected: string | null): void {
  if (tenant === (expected ?? undefined)) return;
  throw new JwsError(
    expected === null
      ? 'it has a tenant, but no tenant is configured for its issuer'
      : 'its tenant is missing, or not the configured one',
  );
}

/**
 * Returns when the assertion expires, in whole seconds. `now` is in seconds too. `iat` and `nbf`
 * may be `leastAhead` seconds in the future, even with a shorter clock tolerance.
 */
export function requireTimes(
  claims: JsonObject,
  issuer: TrustedIssuer,
  now: number,
  leastAhead = 0,
): number {
  const { clockTolerance: tolerance, maximumAge } = issuer;
  const { iat } = claims;
  const latest = now + Math.max(tolerance, leastAhead);
  const exp = requireCurrent(claims, issuer, now, latest);
  if (!isTime(iat)) throw new JwsError('its iat is missing, or not a time');
  if (iat > latest) throw new JwsError('its iat is in the future');
  if (iat <= now - maximumAge - tolerance)
    throw new JwsError(`its iat is more than ${maximumAge} seconds ago`);
  if (exp <= iat) throw new JwsError('its exp is not after its iat');
  if (exp > iat + LONGEST_LIFE)
    throw new JwsError(`its exp is more than ${LONGEST_LIFE} seconds after its iat`);
  return Math.ceil(exp);
}

/**
 * A workload's token need not have an `iat` (JWT-SVID section 3). Without it, the token must expire
 * within the maximum age from now. `now` is in seconds.
 */
export function requireWorkloadTimes(claims: JsonObject, issuer: TrustedIssuer, now: number): void {
  if (Object.hasOwn(claims, 'iat')) {
    requireTimes(claims, issuer, now);
    return;
  }
  const { maximumAge, clockTolerance } = issuer;
  if (requireCurrent(claims, issuer, now) > now + maximumAge + clockTolerance)
    throw new JwsError(`its exp is more than ${maximumAge} seconds ahead, and it has no iat`);
}

/**
 * Returns the `exp`. Throws if the assertion has expired, or if its `nbf` is later than `latest`.
 * All times are in seconds.
 */
function requireCurrent(
  { exp, nbf }: JsonObject,
  { clockTolerance: tolerance }: TrustedIssuer,
  now: number,
  latest = now + tolerance,
): number {
  if (!isTime(exp)) throw new JwsError('its exp is missing, or not a time');
  if (exp <= now - tolerance) throw new JwsError('it has expired');
  if (nbf !== undefined && !(isTime(nbf) && nbf <= latest))
    throw new JwsError('its nbf is in the future, or not a time');
  return exp;
}

/** Accepts seconds since 1970, possibly with a fraction (RFC 7519 section 2). */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
