import { isTrustDomain, matchesSubject, trustDomainOf } from '../../keys/assertions/workloads.ts';
import type {
  ClientAssertions,
  KeyedClient,
  VerifyAssertion,
} from '../../clients/client-assertions.ts';
import { JWT_ASSERTION, JWT_SVID_ASSERTION } from '../../clients/reading-assertions.ts';
import { JwsError, type JsonObject, type Jws } from '../../keys/jws/compact.ts';
import type { SecurityProfile } from '../../profiles.ts';
import type { Server } from '../../server.ts';
import type { ClientKeys } from '../../store/client.ts';

/** A type of token for workloads, and how to read its issuer. */
interface TokenKind {
  readonly type: string;
  /** Returns true if this issuer's tokens have this type. */
  isIssuer(issuer: string): boolean;
  /** Returns a value that is not a string if the token names no issuer. */
  issuerOf(claims: JsonObject): unknown;
}

const KINDS: readonly TokenKind[] = [
  // RFC 7523 section 3 requires `iss`.
  {
    type: JWT_ASSERTION,
    isIssuer: (issuer) => !isTrustDomain(issuer),
    issuerOf: ({ iss }) => iss,
  },
  // A JWT-SVID does not need `iss`. The trust domain in `sub` decides which keys can verify the
  // token, even if `iss` names another issuer.
  {
    type: JWT_SVID_ASSERTION,
    isIssuer: isTrustDomain,
    issuerOf: ({ sub }) => trustDomainOf(sub),
  },
];

/**
 * Returns the types that a token with these claims can have: one for the `iss`, one for the trust
 * domain in `sub`. The server must trust them.
 */
export function typesOfToken({ trustedIssuers }: Server, claims: JsonObject): readonly string[] {
  return KINDS.filter((each) => {
    const issuer = each.issuerOf(claims);
    if (typeof issuer !== 'string' || !each.isIssuer(issuer)) return false;
    return trustedIssuers.trusts(issuer, 'clients');
  }).map(({ type }) => type);
}

export function typeOfIssuer(issuer: string): string {
  return isTrustDomain(issuer) ? JWT_SVID_ASSERTION : JWT_ASSERTION;
}

/** Returns one authentication method for each type of token that the trusted issuers sign. */
export function workloadTokens(server: Server): readonly ClientAssertions[] {
  const issuers = server.trustedIssuers.trustedWith('clients');
  return KINDS.filter((kind) => issuers.some((issuer) => kind.isIssuer(issuer))).map(
    (kind) => new WorkloadTokens(server, kind),
  );
}

/** Authenticates clients with tokens that identify a workload (RFC 7523 section 2.2). */
class WorkloadTokens implements ClientAssertions {
  readonly called = 'workload tokens';
  readonly type: string;
  readonly #server: Server;
  readonly #kind: TokenKind;

  constructor(server: Server, kind: TokenKind) {
    this.type = kind.type;
    this.#server = server;
    this.#kind = kind;
  }

  isFor({ workload }: ClientKeys): boolean {
    return workload !== undefined && this.#kind.isIssuer(workload.issuer);
  }

  recognizes({ payload }: Jws): boolean {
    const issuer = this.#kind.issuerOf(payload);
    return typeof issuer === 'string' && this.#server.trustedIssuers.trusts(issuer, 'clients');
  }

  verifierAt(): VerifyAssertion {
    return (client, _, token, profile) => this.#verify(client, token, profile);
  }

  /** Verifies the token before it looks at the client, so the work is the same for every client. */
  async #verify(
    client: KeyedClient | null,
    token: Jws,
    profile: SecurityProfile | null,
  ): Promise<void> {
    const { trustedIssuers, issuer: audience, host } = this.#server;
    const { payload } = token;
    const issuer = this.#kind.issuerOf(payload);
    if (typeof issuer !== 'string')
      throw new JwsError('its iss is missing, or its sub is not a SPIFFE ID');
    if (Object.hasOwn(payload, 'cnf'))
      throw new JwsError(
        'it is bound to a key (cnf), but this server does not accept bound workload tokens',
      );
    const subject = await trustedIssuers.identify(token, issuer, audience);
    const workload = client?.keys.workload;
    if (workload === undefined) throw new JwsError('the client is not a workload');
    if (workload.issuer !== issuer)
      throw new JwsError('its issuer is not the issuer of the client');
    if (!matchesSubject(workload.subject, subject))
      throw new JwsError('its sub does not match the subject of the client');
    if (profile !== null && !profile.authenticationMethods.includes(this.type))
      throw new JwsError(
        `it is a workload token, which the profile ${profile.name} does not allow`,
      );
    // If the client's subject is a pattern, several programs can share the client. Only this log
    // line shows which one sent the request.
    if (workload.subject !== subject)
      host.log.info('The client {clientId} authenticated as {subject}', {
        clientId: client?.id,
        subject,
      });
  }
}
