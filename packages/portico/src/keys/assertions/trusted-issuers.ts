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
 * How many keys to try for one assertion. An assertion that names no key can match many. Each try
 * costs one signature verification.
 */
const MOST_TRIED = 10;

export interface ExpectedAssertion {
  /** The required `typ`. */
  readonly type: string;
  /** The required `aud`. */
  readonly audience: string;
  /**
   * How far `iat` and `nbf` may be in the future, in seconds, even with a shorter clock tolerance.
   * Defaults to 0.
   */
  readonly leastAhead?: number | undefined;
}

/** A verified assertion that is for this server and valid now. */
export interface VerifiedAssertion {
  readonly issuer: string;
  /** Null if no tenant is configured. */
  readonly tenant: string | null;
  readonly subject: string;
  readonly algorithm: VerifiedAlgorithm;
  readonly claims: JsonObject;
  /**
   * Records the use of the assertion. Returns false if any process has recorded it before. Call
   * this after all other checks, and before you issue a token.
   */
  claim(): Promise<boolean>;
}

interface KnownIssuer {
  readonly settings: TrustedIssuer;
  readonly keys: IssuerKeys;
}

/** Verifies assertions of trusted issuers (RFC 7521 section 5.2). */
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

  /** Returns true if this issuer may assert `people` or `clients`. */
  trusts(issuer: string, asserts: AssertedSubject): boolean {
    return this.#known.get(issuer)?.settings.asserts.includes(asserts) === true;
  }

  trustedWith(asserts: AssertedSubject): readonly string[] {
    return [...this.#known.keys()].filter((issuer) => this.trusts(issuer, asserts));
  }

  /** Returns the tenant that this issuer's assertions must name. Null if none is configured. */
  tenantOf(issuer: string): string | null {
    return this.#known.get(issuer)?.settings.tenant ?? null;
  }

  /**
   * Verifies an assertion about a person, but does not record its use. Throws a JwsError with the
   * reason if the assertion is invalid. Throws a NotNowError if the issuer's keys cannot be read
   * now.
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
   * Verifies a workload's token for this audience and returns its `sub`. Throws the same errors as
   * `verify`. Does not record its use: a program sends the same token until it expires (RFC 7523
   * section 3).
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
 * Returns the keys of a trust bundle that sign JWT-SVIDs, as an ordinary key set. Leaves out keys
 * for certificates (SPIFFE Trust Domain and Bundle, section 4.2.2).
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
