import type { GuardedOptions } from '../../http/outbound/guarded-request.ts';
import { JwsError, parseJws, type JsonObject, type Jws } from '../jws/compact.ts';
import { getAlgorithm, isSignedBy, type VerifiedAlgorithm } from '../jws/public-keys.ts';
import type { SingleUses } from '../../store/single-uses.ts';
import {
  readKeyId,
  requireAudience,
  requireHeader,
  requireTenant,
  requireText,
  requireTimes,
  requireWorkloadClaims,
  requireWorkloadHeader,
  requireWorkloadTimes,
} from './checks.ts';
import { issuerKeysAt, type IssuerKeys, type ReadKeySet } from './issuer-keys.ts';
import type { AssertedSubject, TrustedIssuer } from './trusted-issuer.ts';
import { isTrustDomain } from './workloads.ts';

/**
 * The maximum number of keys to try for one assertion. An assertion that does not name its key can
 * match many keys. Each try costs one signature verification.
 */
const MOST_TRIED = 10;

/** The values that an assertion about a person must contain. */
export interface ExpectedAssertion {
  /** The value that `typ` must have. */
  readonly type: string;
  /** The value that `aud` must have. */
  readonly audience: string;
  /**
   * How far `iat` and `nbf` may be in the future, in seconds, even if the issuer's clock tolerance
   * is shorter. Defaults to 0.
   */
  readonly leastAhead?: number | undefined;
}

/**
 * An assertion that is intended for this server and valid now. The issuer's signature has been
 * verified.
 */
export interface VerifiedAssertion {
  readonly issuer: string;
  /** The issuer's tenant, or null if none is configured. */
  readonly tenant: string | null;
  readonly subject: string;
  /** The algorithm of the signature. */
  readonly algorithm: VerifiedAlgorithm;
  /** All claims of the assertion. */
  readonly claims: JsonObject;
  /**
   * Records that the assertion has been used. Returns false if this or another process has recorded
   * it before. Call this method after all other checks and before you issue a token for the
   * assertion.
   */
  claim(): Promise<boolean>;
}

interface KnownIssuer {
  readonly settings: TrustedIssuer;
  readonly keys: IssuerKeys;
}

/** Verifies assertions from issuers that the server trusts (RFC 7521 section 5.2). */
export class TrustedIssuers {
  readonly #known: ReadonlyMap<string, KnownIssuer>;
  readonly #singleUses: SingleUses;
  readonly #clock: () => number;

  constructor(
    issuers: readonly TrustedIssuer[],
    fetching: GuardedOptions,
    readKeySet: ReadKeySet,
    singleUses: SingleUses,
  ) {
    this.#known = new Map(
      issuers.map((settings) => [
        settings.issuer,
        {
          settings,
          keys: issuerKeysAt(
            settings.keys,
            fetching,
            isTrustDomain(settings.issuer) ? (value) => readKeySet(forJwts(value)) : readKeySet,
          ),
        },
      ]),
    );
    this.#singleUses = singleUses;
    this.#clock = fetching.clock;
  }

  /** Whether the server trusts this issuer's assertions about `people` or `clients`. */
  trusts(issuer: string, asserts: AssertedSubject): boolean {
    return this.#known.get(issuer)?.settings.asserts.includes(asserts) === true;
  }

  /** Returns the issuers that the server trusts to assert `people` or `clients`. */
  trustedWith(asserts: AssertedSubject): readonly string[] {
    return [...this.#known.keys()].filter((issuer) => this.trusts(issuer, asserts));
  }

  /**
   * Returns the tenant that the issuer's assertions must name, or null if no tenant is configured
   * or the issuer is unknown.
   */
  tenantOf(issuer: string): string | null {
    return this.#known.get(issuer)?.settings.tenant ?? null;
  }

  /**
   * Verifies an assertion about a person. Throws a JwsError with the reason if the assertion is not
   * valid. Throws a NotNowError if the server cannot read the issuer's keys at the moment. Does not
   * record that the assertion has been used.
   */
  async verify(text: string, expected: ExpectedAssertion): Promise<VerifiedAssertion> {
    const assertion = parseJws(text);
    const { header, payload: claims } = assertion;
    const issuer = requireText(claims, 'iss');
    const { settings, keys } = this.#require(issuer, 'people');
    requireHeader(header, expected.type);
    requireAudience(claims, expected.audience);
    requireTenant(claims, settings.tenant);
    const subject = requireText(claims, 'sub');
    const id = requireText(claims, 'jti');
    const expiry = requireTimes(claims, settings, this.#clock() / 1000, expected.leastAhead);
    await requireSignature(assertion, settings, keys);
    const rememberedUntil = (expiry + settings.clockTolerance) * 1000;
    return {
      issuer,
      tenant: settings.tenant,
      subject,
      algorithm: getAlgorithm(assertion),
      claims,
      claim: () => this.#singleUses.claim('assertion', ['issuer', issuer, id], rememberedUntil),
    };
  }

  /**
   * Verifies a workload's token that this issuer signed for this audience. Returns the token's
   * `sub`. Throws the same errors as `verify`. Does not record that the token has been used,
   * because a program sends the same token until it expires (RFC 7523 section 3).
   */
  async identify(token: Jws, issuer: string, audience: string): Promise<string> {
    const { header, payload: claims } = token;
    const { settings, keys } = this.#require(issuer, 'clients');
    requireWorkloadHeader(header);
    requireWorkloadClaims(claims);
    requireAudience(claims, audience);
    requireTenant(claims, settings.tenant);
    const subject = requireText(claims, 'sub');
    requireWorkloadTimes(claims, settings, this.#clock() / 1000);
    await requireSignature(token, settings, keys);
    return subject;
  }

  #require(issuer: string, asserts: AssertedSubject): KnownIssuer {
    const known = this.#known.get(issuer);
    if (known === undefined) throw new JwsError('its iss is not in oauth_server:trusted_issuers');
    if (known.settings.asserts.includes(asserts)) return known;
    throw new JwsError(`its issuer may not assert ${asserts}`);
  }
}

/**
 * Returns those keys of a trust bundle that sign JWT-SVIDs, as an ordinary key set. Leaves out the
 * keys for certificates (SPIFFE Trust Domain and Bundle, section 4.2.2).
 */
function forJwts(bundle: unknown): unknown {
  const { keys } = (bundle ?? {}) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) return null;
  return {
    keys: (keys as readonly (JsonObject | null)[])
      .filter((key) => key?.['use'] === 'jwt-svid')
      .map((key) => ({ ...key, use: 'sig' })),
  };
}

async function requireSignature(
  assertion: Jws,
  { algorithms }: TrustedIssuer,
  keys: IssuerKeys,
): Promise<void> {
  const algorithm = getAlgorithm(assertion);
  if (!algorithms.includes(algorithm))
    throw new JwsError('its alg is not one of those configured for its issuer');
  const kid = readKeyId(assertion.header);
  const isSigned = await keys.haveOne((known) =>
    known
      .filter((key) => (kid === null || key.kid === kid) && key.algorithms.includes(algorithm))
      .slice(0, MOST_TRIED)
      .some((key) => isSignedBy(key, assertion)),
  );
  if (!isSigned) throw new JwsError('none of the keys of its issuer signed it');
}
