import { JwsError, type JsonObject } from '../jws/compact.ts';
import type { TrustedIssuer } from './trusted-issuer.ts';

/**
 * Checks the header and the claims of an assertion. Each function throws a JwsError if the
 * assertion is not valid.
 */

/** The maximum length of `iss`, `sub` and `jti`, in characters. */
const LONGEST_TEXT = 255;
/**
 * The maximum lifetime of an assertion, in seconds. It is limited because the server must store the
 * assertion's `jti` until the assertion expires.
 */
const LONGEST_LIFE = 86_400;
/**
 * Header parameters that contain a key or refer to one. The server rejects them, because it uses
 * only keys from the configured location.
 */
const KEYS_IN_HEADER = ['jwk', 'jku', 'x5u', 'x5c'] as const;

/**
 * The allowed values of `typ` in a workload's token, in lower case. Kubernetes tokens have no
 * `typ`. A JWT-SVID may have `JWT` or `JOSE` (JWT-SVID section 2.3). The last value comes from
 * draft-ietf-oauth-rfc7523bis.
 */
const WORKLOAD_TYPES: readonly unknown[] = [undefined, 'jwt', 'jose', 'client-authentication+jwt'];

/**
 * Claims that appear in access tokens, ID tokens or logout tokens. Such a token can have the same
 * `typ` as a workload's token. The server rejects a token with one of these claims (RFC 8725
 * section 3.12).
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

/**
 * Throws unless the header has this `typ` (RFC 8725 section 3.11). Also throws if the header
 * contains a key.
 */
export function requireHeader(header: JsonObject, type: string): void {
  if (header['typ'] !== type) throw new JwsError(`its typ is not ${type}`);
  requireNoKey(header);
}

/**
 * Throws unless the header has a `typ` that a workload's token may have. Also throws if the header
 * contains a key.
 */
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

/** Returns the key id (`kid`), or null if the header contains no key id. */
export function readKeyId({ kid }: JsonObject): string | null {
  if (kid === undefined) return null;
  if (typeof kid !== 'string') throw new JwsError('its kid is not a string');
  return kid;
}

/**
 * Returns the value of a claim. Throws unless it is a string of 1 to 255 characters without NUL.
 */
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

/** Throws unless `aud` is exactly this audience, as a string or as the only item in a list. */
export function requireAudience({ aud }: JsonObject, audience: string): void {
  const [only, ...more]: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (only !== audience || more.length > 0)
    throw new JwsError('its aud must be only the issuer of this server');
}

/**
 * Throws unless the claim `tenant` is the configured tenant. If no tenant is configured, throws if
 * the claim exists.
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
 * Checks the times in an assertion. Returns when the assertion expires, in whole seconds. `now` is
 * also in seconds. `iat` and `nbf` may be up to `leastAhead` seconds in the future, even if the
 * issuer's clock tolerance is shorter.
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
 * Checks the times in a workload's token. Such a token need not have an `iat` (JWT-SVID section 3).
 * Without `iat`, the token must expire within the maximum age from now. `now` is in seconds.
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
 * Returns the `exp` of an assertion. Throws if the assertion has expired or its `nbf` is later than
 * `latest`. All times are in seconds.
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

/**
 * Whether a value is a valid time: seconds since 1970, possibly with a fraction (RFC 7519 section
 * 2).
 */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
