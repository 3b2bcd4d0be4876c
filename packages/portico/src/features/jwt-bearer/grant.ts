import { orderedIdentifier, randomIdentifier, randomToken, tokenHash } from '../../crypto.ts';
import type { VerifiedAssertion } from '../../keys/assertions/trusted-issuers.ts';
import { OAuthError } from '../../errors.ts';
import { CodeExchange } from '../../grants/code-exchange.ts';
import type { GrantType } from '../../grants/grant-types.ts';
import type { TokenGrant, TokenResponse } from '../../grants/grant.ts';
import { invalidGrant } from '../../grants/outcome.ts';
import type { GrantParts } from '../../grants/parts.ts';
import { INACTIVE_ACCOUNT, naming } from '../../grants/stored-grant.ts';
import { JwsError } from '../../keys/jws/compact.ts';
import type { Parameters } from '../../parameters.ts';
import { personProblem, samePerson, type PersonReference } from '../../person.ts';
import { quotedList } from '../../quoting.ts';
import type { Client } from '../../store/client.ts';
import type { AuthorizationCode, Family } from '../../store/grant.ts';
import { givenDetails } from '../../store/given-access.ts';
import type { ProvedKey } from '../../tokens/key-binding.ts';
import { scopesHeldBy } from '../../tokens/scopes.ts';
import type { OrganizationAccess } from './organization-access.ts';
import type { Pairs } from './pairs.ts';
import {
  ofClaim,
  requireAllowed,
  requireBoundKey,
  requireSupported,
  resourceOf,
  scopesOf,
  withEffect,
} from './rights.ts';

/** `grant_type` for assertions about users (RFC 7523 section 2.1). */
const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** `typ` of an identity assertion (draft-ietf-oauth-identity-assertion-authz-grant). */
const ID_JAG_TYPE = 'oauth-id-jag+jwt';
/** The time to issue the token after the authorization has begun, in milliseconds. */
const EXCHANGE_TIME = 60_000;

const OTHER_ACCOUNT =
  'Host.loadAccount returned an account with another provider or id than the link of the ' +
  'subject, or than Host.accountFor; return the same provider and id in both methods';

const ENDED = 'the person or an operator has ended the access of this client';

export function jwtBearerGrant(access: OrganizationAccess, pairs: Pairs): GrantType {
  return {
    name: JWT_BEARER_GRANT,
    begins: 'organization',
    clients: 'confidential',
    grant: (parts) => new JwtBearerGrant(parts, access, pairs),
  };
}

/** A verified assertion, with the access that it gives to the client. */
interface Granted {
  readonly assertion: VerifiedAssertion;
  readonly person: PersonReference;
  readonly scopes: readonly string[];
  readonly audience: string | null;
}

/**
 * Exchanges an identity assertion (ID-JAG) for an access token (RFC 7523 section 2.1). The user
 * sees no consent page, because the issuer of the assertion has already decided. The response
 * contains no refresh token and no ID token.
 */
class JwtBearerGrant implements TokenGrant {
  readonly #parts: GrantParts;
  readonly #access: OrganizationAccess;
  readonly #pairs: Pairs;
  readonly #exchange: CodeExchange;

  constructor(parts: GrantParts, access: OrganizationAccess, pairs: Pairs) {
    this.#parts = parts;
    this.#access = access;
    this.#pairs = pairs;
    this.#exchange = new CodeExchange(parts, {
      grantType: JWT_BEARER_GRANT,
      secondUse: 'refused',
    });
  }

  async answer(client: Client, form: Parameters, proved: ProvedKey | null): Promise<TokenResponse> {
    const { clock } = this.#parts.server;
    const sent = form.require('assertion');
    const thumbprint = proved?.thumbprint ?? null;
    const granted = await this.#refusing(() => this.#granted(sent, client, form, thumbprint));
    // Issue no refresh token. When the access token expires, the client gets another assertion.
    const asking = { ...client, grants: client.grants.filter((name) => name !== 'refresh_token') };
    await this.#parts.issuing.requireIssuable(asking, granted.scopes, thumbprint);
    if (proved !== null) await proved.claim();
    // Mark the assertion as used after all other checks, so a rejected request does not use it up.
    if (!(await granted.assertion.claim())) throw invalidGrant('the assertion was used before');
    const now = clock();
    const code = await this.#begin(granted, client, now);
    const request = { client: asking, form, thumbprint };
    return naming(code.family, () => this.#exchange.exchange(code, request, now));
  }

  /** If `work` rejects the assertion, throws `invalid_grant` with the reason. */
  async #refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof JwsError) throw invalidGrant(`assertion refused: ${error.message}`);
      throw error;
    }
  }

  /**
   * Checks the assertion and the request. Returns the access that the assertion gives. Writes
   * nothing.
   */
  async #granted(
    sent: string,
    client: Client,
    form: Parameters,
    thumbprint: string | null,
  ): Promise<Granted> {
    const { issuer, trustedIssuers, resources, profiles, clock } = this.#parts.server;
    const profile = profiles.of(client);
    const expected = {
      type: ID_JAG_TYPE,
      audience: issuer,
      leastAhead: profile?.leastAhead,
    };
    const assertion = await trustedIssuers.verify(sent, expected);
    const { claims } = assertion;
    requireAllowed(assertion, profile, clock() / 1000);
    if (claims['client_id'] !== client.id)
      throw new JwsError('its client_id is not the client that sent it');
    requireSupported(claims);
    requireBoundKey(claims, thumbprint);
    const standard = resources.named(undefined)?.audience;
    const resource = resourceOf(claims, form.get('resource'), standard);
    const audience = ofClaim(claims, 'resource', () => resources.require(resource));
    const scopes = scopesOf(claims, form.get('scope'));
    const registered = ofClaim(claims, 'scope', () => this.#registered(scopes, client, audience));
    const person = await this.#personOf(assertion);
    if (await this.#pairs.hasEnded({ person, clientId: client.id })) throw invalidGrant(ENDED);
    return { assertion, person, scopes: await this.#held(registered, person), audience };
  }

  /**
   * Returns the account of the asserted user. Throws if the account does not exist or may not sign
   * in.
   */
  async #personOf(assertion: VerifiedAssertion): Promise<PersonReference> {
    const { accounts, clock } = this.#parts.server;
    const person = await this.#access.accountFor(assertion, clock());
    if (person === null) throw invalidGrant('no account is linked to the subject of the assertion');
    const problem = personProblem(person);
    if (problem !== null)
      throw new Error(`Host.accountFor returned a person that cannot be stored: ${problem}`);
    const user = await accounts.active(person);
    if (user === null) throw invalidGrant(INACTIVE_ACCOUNT);
    // Require the account's own reference. With two references, access that ended under one would
    // continue under the other.
    if (!samePerson(user.reference, person)) throw new Error(OTHER_ACCOUNT);
    return person;
  }

  /**
   * Returns the scopes if the client and the resource have all of them. Otherwise, throws. If
   * `scopes` is null, returns all scopes that both have.
   */
  #registered(
    scopes: readonly string[] | null,
    client: Client,
    audience: string | null,
  ): readonly string[] {
    const catalog = this.#parts.server.resources.scopesOf(audience);
    const available = withEffect(client.scopes.filter((name) => catalog.has(name)));
    const wanted = scopes ?? available;
    const beyond = wanted.filter((name) => !available.includes(name));
    if (wanted.length > 0 && beyond.length === 0) return wanted;
    const detail =
      beyond.length === 0
        ? 'none of the scopes has an effect with this grant'
        : 'these scopes are unknown, or not registered for this client and ' +
          `resource: ${quotedList(beyond)}`;
    throw new OAuthError('invalid_scope', 'The scope is not one that the client may have.', detail);
  }

  /** Returns the scopes that the user has permissions for. Throws if there are no such scopes. */
  async #held(scopes: readonly string[], person: PersonReference): Promise<readonly string[]> {
    const { host, scopes: catalog } = this.#parts.server;
    const held = await scopesHeldBy(host, catalog, scopes, person);
    if (held.length > 0) return held;
    throw new OAuthError(
      'invalid_scope',
      'The person may use none of these scopes.',
      `the person has no permission for the scopes: ${quotedList(scopes)}`,
    );
  }

  /**
   * Begins the authorization. Throws if the client's access has ended, or if the user was erased in
   * the meantime.
   */
  async #begin(
    { assertion, person, scopes, audience }: Granted,
    client: Client,
    now: number,
  ): Promise<AuthorizationCode> {
    const pair = { person, clientId: client.id };
    // An erasure removes the user's subject before this row. So either this call assigns a new
    // subject, or the authorization does not begin.
    const subject = await this.#pairs.prepare(pair, randomIdentifier(), now);
    if (subject === null) throw invalidGrant(ENDED);
    const family: Family = {
      id: orderedIdentifier(now),
      clientId: client.id,
      person,
      subject,
      scopes,
      audience,
      thumbprint: null,
      details: givenDetails(assertion),
    };
    const code = {
      hash: tokenHash(randomToken()),
      expiresAt: now + EXCHANGE_TIME,
      parameters: { redirectUri: '', codeChallenge: '', nonce: null },
    };
    if (!(await this.#pairs.begin(pair, { family, code }, now))) throw invalidGrant(ENDED);
    return { ...code, family, used: false };
  }
}
