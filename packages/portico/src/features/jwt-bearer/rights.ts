import type { VerifiedAssertion } from '../../keys/assertions/trusted-issuers.ts';
import { OAuthError } from '../../errors.ts';
import { JwsError, type JsonObject } from '../../keys/jws/compact.ts';
import type { SecurityProfile } from '../../profiles.ts';
import { quotedList } from '../../quoting.ts';
import { OFFLINE_ACCESS, isScopeToken } from '../../tokens/scopes.ts';

/** Determines what access an assertion grants (ID-JAG section 4.4.1). */

/**
 * Claims that this server rejects. It cannot enforce the restrictions in `authorization_details`
 * and `aud_tenant`. Its tokens cannot express that another party acts for the user (`act`, RFC 8693
 * section 4.1).
 */
const NOT_SUPPORTED = ['authorization_details', 'aud_tenant', 'act'] as const;
/** This grant issues neither an ID token nor a refresh token. */
const WITHOUT_EFFECT: readonly string[] = ['openid', OFFLINE_ACCESS];

/**
 * Throws a JwsError if the client's profile does not allow the algorithm or times of the assertion.
 * `now` is in seconds.
 */
export function requireAllowed(
  { algorithm, claims }: VerifiedAssertion,
  profile: SecurityProfile | null,
  now: number,
): void {
  if (profile === null) return;
  const { name, algorithms, longestAhead } = profile;
  if (!algorithms.includes(algorithm))
    throw new JwsError(`its alg is ${algorithm}, which the profile ${name} does not allow`);
  for (const claim of ['iat', 'nbf']) {
    const time = claims[claim];
    if (typeof time === 'number' && time > now + longestAhead)
      throw new JwsError(
        `its ${claim} is more than ${longestAhead} seconds ahead, which the profile ${name} does ` +
          'not allow',
      );
  }
}

/** Throws a JwsError for a claim that this server does not support. */
export function requireSupported(claims: JsonObject): void {
  const found = NOT_SUPPORTED.find((name) => Object.hasOwn(claims, name));
  if (found !== undefined) throw new JwsError(`it has ${found}, which is not supported`);
}

/**
 * Calls `decide`, which checks the resource or the scopes. If the assertion contains the claim
 * `name`, a wrong value comes from the assertion. An OAuthError then becomes a JwsError (MCP,
 * Enterprise-Managed Authorization section 7.6.2).
 */
export function ofClaim<T>(claims: JsonObject, name: 'resource' | 'scope', decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    if (!(error instanceof OAuthError) || !Object.hasOwn(claims, name)) throw error;
    throw new JwsError(`its ${name} is not accepted: ${error.detail ?? error.message}`);
  }
}

/**
 * Returns the resource of the token, or undefined for the default resource (`standard`). `sent` is
 * the request's parameter `resource`.
 *
 * - If the assertion names no resource, the request may name only the default.
 * - If the assertion names one, the request may name only that one.
 * - If the assertion names several, the request must choose one of them.
 *
 * Throws a JwsError for a malformed claim, and `invalid_target` if the request breaks a rule.
 */
export function resourceOf(
  { resource }: JsonObject,
  sent: string | undefined,
  standard: string | null = null,
): string | undefined {
  if (resource === undefined) {
    if (sent === undefined || sent === standard) return undefined;
    throw otherTarget('the request names a resource, but the assertion names none');
  }
  const named: readonly unknown[] = Array.isArray(resource) ? resource : [resource];
  const texts = named.filter((each) => typeof each === 'string' && each !== '');
  if (texts.length === 0 || texts.length !== named.length)
    throw new JwsError('its resource is neither a string nor a list of strings');
  const found = (texts as readonly string[]).filter((each) => sent === undefined || each === sent);
  const [only] = new Set(found);
  if (only !== undefined && new Set(found).size === 1) return only;
  throw otherTarget(
    only === undefined
      ? 'the request names a resource that the assertion does not name'
      : 'the assertion names several resources, and the request does not choose one',
  );
}

/**
 * Returns the scopes that are in both the assertion and the request. If only one has scopes,
 * returns them. If neither has, returns null. Omits scopes without an effect.
 *
 * Throws a JwsError for a malformed claim. Throws `invalid_scope` for a malformed parameter, or
 * without a common scope.
 */
export function scopesOf(
  { scope }: JsonObject,
  sent: string | undefined,
): readonly string[] | null {
  const asserted = scope === undefined ? null : readClaim(scope);
  const requested = sent === undefined ? null : readParameter(sent);
  if (asserted === null || requested === null) return asserted ?? requested;
  const both = requested.filter((name) => asserted.includes(name));
  if (both.length > 0) return both;
  const detail = `the assertion contains none of the requested scopes: ${quotedList(requested)}`;
  throw new OAuthError('invalid_scope', 'The assertion does not have these scopes.', detail);
}

function readClaim(scope: unknown): readonly string[] {
  const names = typeof scope === 'string' ? split(scope) : [];
  if (names.length > 0 && names.every(isScopeToken)) return withEffect(names);
  throw new JwsError('its scope is not a string that contains scopes');
}

function readParameter(scope: string): readonly string[] {
  const names = split(scope);
  if (names.every(isScopeToken)) return withEffect(names);
  const detail = `not well formed: ${quotedList(names.filter((name) => !isScopeToken(name)))}`;
  throw new OAuthError('invalid_scope', 'The scope is not well formed.', detail);
}

function split(scope: string): readonly string[] {
  return [...new Set(scope.split(' ').filter((name) => name !== ''))];
}

export function withEffect(names: readonly string[]): readonly string[] {
  return names.filter((name) => !WITHOUT_EFFECT.includes(name));
}

/**
 * Throws unless the request proves that it has the key of the assertion (RFC 7800, RFC 9449 section
 * 6.1). `proved` is the thumbprint of the proved key, or null.
 */
export function requireBoundKey({ cnf }: JsonObject, proved: string | null): void {
  if (cnf === undefined) return;
  const members = typeof cnf === 'object' && cnf !== null ? Object.entries(cnf) : [];
  const [[name, thumbprint] = []] = members;
  if (members.length !== 1 || name !== 'jkt' || typeof thumbprint !== 'string')
    throw new JwsError('its cnf must contain only jkt');
  if (proved === null)
    throw new JwsError('it is bound to a key, but the request contains no proof of that key');
  if (thumbprint !== proved) throw new JwsError('it is bound to another key');
}

function otherTarget(detail: string): OAuthError {
  return new OAuthError(
    'invalid_target',
    'The resource is not the one that the assertion is for.',
    detail,
  );
}
