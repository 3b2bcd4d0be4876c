import type {
  KeyedClient,
  OwnAssertions,
  VerifyAssertion,
} from '../../clients/client-assertions.ts';
import { JwsError, type JsonObject, type Jws } from '../../keys/jws/compact.ts';
import { getAlgorithm, isSignedBy } from '../../keys/jws/public-keys.ts';
import { PRIVATE_KEY_JWT } from '../../clients/credentials.ts';
import { JWT_ASSERTION } from '../../clients/reading-assertions.ts';
import type { SecurityProfile } from '../../profiles.ts';
import type { Server } from '../../server.ts';
import type { ClientKeys } from '../../store/client.ts';
import { areInDocument, type ClientKeySource, type Fits } from './client-keys.ts';
import { checkDecoySignature, decoyClient, isDecoyClient } from './decoy-client.ts';

/**
 * In seconds:
 *
 * - `SKEW`: how far the clocks of the client and the server may differ.
 * - `LONGEST_LIFE`: how long an assertion can be valid.
 * - `FURTHEST_EXPIRY`: how far in the future `exp` may be if there is an `iat`.
 */
const SKEW = 60;
const LONGEST_LIFE = 600;
const FURTHEST_EXPIRY = 3600;
const LONGEST_JTI = 255;
/** How many keys of a key set the server tries. Each key costs one signature verification. */
const MOST_TRIED = 10;
/** `typ` of a client assertion (draft-ietf-oauth-rfc7523bis). */
const OWN_TYPE = 'client-authentication+jwt';
const TYPES: readonly unknown[] = [undefined, 'jwt', OWN_TYPE];

/**
 * Authenticates clients that sign assertions with their own keys: `private_key_jwt` (RFC 7523
 * section 3, OpenID Connect Core section 9).
 */
export class Assertions implements OwnAssertions {
  readonly called = PRIVATE_KEY_JWT;
  readonly type = JWT_ASSERTION;
  readonly #server: Server;
  readonly #keys: ClientKeySource;

  constructor(server: Server, keys: ClientKeySource) {
    this.#server = server;
    this.#keys = keys;
  }

  isFor({ workload }: ClientKeys): boolean {
    return workload === undefined;
  }

  recognizes(): boolean {
    return true;
  }

  problems(client: KeyedClient): Promise<readonly string[]> {
    return this.#keys.problems(client);
  }

  verifierAt(endpoints: readonly string[]): VerifyAssertion {
    const verifier = new Verifier(this.#server, this.#keys, endpoints);
    return (client, clientId, assertion, profile) =>
      verifier.verify(client ?? decoyClient(clientId), assertion, profile);
  }
}

/** Verifies assertions for the given endpoints. */
class Verifier {
  readonly #server: Server;
  readonly #keys: ClientKeySource;
  /** An assertion may name one of these URLs as its audience, instead of the issuer. */
  readonly #endpoints: readonly string[];

  constructor(server: Server, keys: ClientKeySource, endpoints: readonly string[]) {
    this.#server = server;
    this.#keys = keys;
    this.#endpoints = endpoints;
  }

  async verify(
    client: KeyedClient,
    assertion: Jws,
    profile: SecurityProfile | null,
  ): Promise<void> {
    let isChecked = false;
    const isSigned: typeof isSignedBy = (key, jws) => {
      isChecked = true;
      return isSignedBy(key, jws);
    };
    try {
      await this.#requireRight(client, assertion, profile, isSigned);
    } catch (error) {
      if (!isChecked) checkDecoySignature(assertion);
      throw error;
    }
  }

  /**
   * Throws unless this server is the only audience. Another server in the audience could send the
   * assertion to this one and impersonate the client.
   */
  #requireAudience({ header, payload }: Jws, profile: SecurityProfile | null): void {
    const { issuer } = this.#server;
    const { aud } = payload;
    if (profile?.onlyIssuerIsAudience === true && aud !== issuer)
      throw new JwsError('its aud must be the issuer, as one string');
    const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
    const ours = readType(header) === OWN_TYPE ? [issuer] : [issuer, ...this.#endpoints];
    if (named.length === 0 || !named.every((each) => ours.some((own) => own === each))) {
      throw new JwsError('its aud must contain only this server');
    }
  }

  /**
   * Throws unless the assertion has valid claims and times, an unused `jti`, and a signature by one
   * of the client's keys. `isSigned` verifies the signature.
   */
  async #requireRight(
    client: KeyedClient,
    assertion: Jws,
    profile: SecurityProfile | null,
    isSigned: typeof isSignedBy,
  ): Promise<void> {
    const { singleUses, clock } = this.#server;
    const { header, payload } = assertion;
    const algorithm = getAlgorithm(assertion);
    const { algorithm: kept } = client.keys;
    if (kept !== null && algorithm !== kept && !areInDocument(client))
      throw new JwsError('its alg is not the one that the client registered');
    if (profile !== null && !profile.algorithms.includes(algorithm))
      throw new JwsError(
        `its alg is ${algorithm}, which the profile ${profile.name} does not allow`,
      );
    if (!TYPES.includes(readType(header)))
      throw new JwsError('its typ belongs to another kind of token');
    const kid = readKid(header);
    if (payload['iss'] !== client.id || payload['sub'] !== client.id) {
      throw new JwsError('its iss and sub must both be the client');
    }
    this.#requireAudience(assertion, profile);
    const expiry = requireTimes(payload, clock() / 1000);
    const jti = requireJti(payload);
    const fits: Fits = (known, only) =>
      (only === null || algorithm === only) &&
      known
        .filter((key) => (kid === null || key.kid === kid) && key.algorithms.includes(algorithm))
        .slice(0, MOST_TRIED)
        .some((key) => isSigned(key, assertion));
    if (!(await this.#keys.haveOne(client, fits)) || isDecoyClient(client))
      throw new JwsError('it is not signed with a key of the client');
    // Mark the assertion as used after all checks. Otherwise, a sender without the client's key
    // could use up a `jti`.
    const isFirst = await singleUses.claim('assertion', [client.id, jti], (expiry + SKEW) * 1000);
    if (!isFirst) throw new JwsError('it was used before');
  }
}

function readType({ typ }: JsonObject): unknown {
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
}

function readKid({ kid }: JsonObject): string | null {
  if (kid === undefined) return null;
  if (typeof kid !== 'string') throw new JwsError('its kid is not a string');
  return kid;
}

function requireJti({ jti }: JsonObject): string {
  if (typeof jti === 'string' && jti.length > 0 && jti.length <= LONGEST_JTI) return jti;
  throw new JwsError(`its jti is missing, or not a string of at most ${LONGEST_JTI} characters`);
}

/**
 * Checks the times. Returns when the assertion expires, in whole seconds since 1970: at most
 * `LONGEST_LIFE` after `iat`, even if `exp` is later. `now` is also in seconds.
 */
function requireTimes({ exp, iat, nbf }: JsonObject, now: number): number {
  if (!isTime(exp)) throw new JwsError('its exp is missing, or not a time');
  if (exp <= now - SKEW) throw new JwsError('it has expired');
  const furthest = iat === undefined ? LONGEST_LIFE : FURTHEST_EXPIRY;
  if (exp > now + furthest + SKEW) {
    throw new JwsError(
      `its exp is more than ${furthest} seconds ` +
        `ahead${iat === undefined ? ', and it has no iat' : ''}`,
    );
  }
  for (const [name, time] of Object.entries({ iat, nbf })) {
    if (time === undefined) continue;
    if (!isTime(time)) throw new JwsError(`its ${name} is not a time`);
    if (time > now + SKEW) throw new JwsError(`its ${name} is in the future`);
  }
  if (!isTime(iat)) return Math.ceil(exp);
  if (iat < now - LONGEST_LIFE - SKEW) {
    throw new JwsError(`its iat is more than ${LONGEST_LIFE} seconds ago`);
  }
  return Math.ceil(Math.min(exp, iat + LONGEST_LIFE));
}

/** A time is in seconds since 1970, possibly with a fraction (RFC 7519 section 2). */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
