import type { UserInterface } from '../../contracts/person.ts';
import { OAuthError } from '../errors.ts';
import { signIdToken } from '../id-token.ts';
import { quotedList, quotedUri } from '../refusals.ts';
import { formatScope, intersectScopes, scopesHeldBy } from '../scopes.ts';
import type { ServerContext } from '../server-context.ts';
import { targetName } from '../tokens/resource-indicators.ts';
import type {
  Client,
  Family,
  Grant,
  StoredGrant,
  GrantOutcome,
  GrantRefusal,
  NewTokens,
} from '../store/store.ts';
import { newRefreshToken, randomToken, tokenHash } from '../crypto.ts';

/** The successful answer of the token endpoint (RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3). */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  /** Seconds. */
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
}

/** Tokens that are made but not yet issued: what the store is to keep, and what the client will be told. */
export interface PreparedTokens {
  readonly tokens: NewTokens;
  readonly response: TokenResponse;
}

/** Throws `unauthorized_client` unless the client was registered for this grant. */
export function requireGrant(client: Client, grant: Grant): void {
  if (!client.grants.includes(grant)) {
    throw new OAuthError(
      'unauthorized_client',
      `The client is not registered for the grant ${grant}.`,
      `the client is registered for ${client.grants.join(', ')}, not for ${grant}`,
    );
  }
}

/** One answer for every reason: which one it was helps nobody but an attacker, and stands in the log. */
export function invalidGrant(detail: string): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The grant is unknown, expired, used, revoked, or does not belong to this client and request.',
    detail,
  );
}

/** Reasons that both grants of a person's have. */
export const INACTIVE_ACCOUNT = 'the account is gone, or may no longer sign in';

export function anothersClient(what: string, { family }: StoredGrant): string {
  return `the ${what} belongs to the client ${family.clientId}`;
}

export function expired(what: string, { expiresAt }: StoredGrant): string {
  return `the ${what} expired at ${new Date(expiresAt).toISOString()}`;
}

/**
 * The target stays what it was when the person consented (RFC 8707 section 2.2): another `resource` is `invalid_target`.
 * Tokens for another target than this server's would be no tokens here, so none are issued for one.
 */
export function requireTarget(
  context: ServerContext,
  { family }: StoredGrant,
  resource: string | undefined,
): void {
  if (resource !== undefined && resource !== family.audience) {
    throw new OAuthError(
      'invalid_target',
      'The resource is not the one that the grant was made for.',
      `the resource asked for is ${quotedUri(resource)}, the grant was made for ${targetName(family.audience)}`,
    );
  }
  if (family.audience !== context.audience) {
    throw invalidGrant(
      `the grant was made for ${targetName(family.audience)}, oauth_server:audience is ${targetName(context.audience)}`,
    );
  }
}

/** What a second use of each says in the audit log. */
const REPLAYS = { authorization_code: 'code_replayed', refresh_token: 'refresh_token_replayed' } as const;

type PersonalGrant = keyof typeof REPLAYS;

const NAMES: Readonly<Record<PersonalGrant, string>> = {
  authorization_code: 'code',
  refresh_token: 'refresh token',
};

/** Why the store issued nothing, after all that could be looked at before was right. */
const LATE_REFUSALS: Readonly<Record<GrantRefusal, string>> = {
  used: 'was used by another request at the same moment',
  revoked: 'belongs to an authorization that was revoked',
};

/** Tells of the tokens that the store issued; throws `invalid_grant` when it issued none, telling of a replay. */
export async function settleOutcome(
  context: ServerContext,
  grantType: PersonalGrant,
  used: StoredGrant,
  prepared: PreparedTokens,
  outcome: GrantOutcome,
): Promise<TokenResponse> {
  if (!outcome.issued) {
    if (outcome.refusal === 'used') await tellOfReplay(context, grantType, used);
    throw invalidGrant(`the ${NAMES[grantType]} ${LATE_REFUSALS[outcome.refusal]}`);
  }
  const { id: authorization, clientId, person } = used.family;
  const { scopes } = prepared.tokens.accessToken;
  await context.audit({ type: 'tokens_issued', grantType, clientId, person, authorization, scopes });
  return prepared.response;
}

/** Offered a second time, so somebody else may hold what the first use gave: everything that descends from it ends. */
export async function revokeReplayed(
  context: ServerContext,
  grantType: PersonalGrant,
  used: StoredGrant,
): Promise<void> {
  const revoked = await context.store.revokeReplayed(used, context.clock());
  await tellOfReplay(context, grantType, used, revoked);
}

/** Tells the audit log of a second use, and that it ended the family. */
export async function tellOfReplay(
  context: ServerContext,
  grantType: PersonalGrant,
  { family }: StoredGrant,
  revoked = true,
): Promise<void> {
  const about = { authorization: family.id, clientId: family.clientId, person: family.person };
  await context.audit({ type: REPLAYS[grantType], ...about });
  if (revoked) await context.audit({ type: 'family_revoked', ...about, reason: 'replay' });
}

/** The family's scopes that the client is still registered for and the server still offers; `invalid_scope` if none is. */
export function scopesInForce(
  context: ServerContext,
  { family, clientScopes }: StoredGrant,
): readonly string[] {
  const scopes = intersectScopes(family.scopes, clientScopes).filter((scope) => context.scopes.has(scope));
  if (scopes.length > 0) return scopes;
  throw new OAuthError(
    'invalid_scope',
    'Nothing of what was granted can be used any more.',
    `the client or the server no longer has any of the scopes granted: ${quotedList(family.scopes)}`,
  );
}

/**
 * Makes the tokens for a family, the ID token with them, before the store is asked to issue them: should signing fail,
 * nothing was spent.
 */
export async function prepareTokens(
  context: ServerContext,
  request: {
    readonly client: Client;
    readonly family: Family;
    readonly user: UserInterface;
    readonly scopes: readonly string[];
    readonly nonce: string | null;
    /** What all refresh tokens of the family share; null for its first. */
    readonly shared: string | null;
    readonly now: number;
  },
): Promise<PreparedTokens> {
  const { config } = context;
  const { client, family, user, scopes, nonce, now } = request;
  const shared = request.shared ?? randomToken();
  const accessToken = randomToken();
  const refreshToken = client.grants.includes('refresh_token') ? newRefreshToken(family.id, shared) : null;
  const idToken = scopes.includes('openid')
    ? await signedIdToken(context, { family, user, scopes, nonce, accessToken, now })
    : null;
  return {
    tokens: {
      accessToken: { hash: tokenHash(accessToken), scopes, expiresAt: now + config.access_token_ttl * 1000 },
      refreshToken:
        refreshToken === null
          ? null
          : {
              hash: tokenHash(refreshToken),
              markHash: tokenHash(shared),
              expiresAt: now + config.refresh_token_ttl * 1000,
            },
    },
    response: {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: config.access_token_ttl,
      scope: formatScope(scopes),
      ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
      ...(idToken === null ? {} : { id_token: idToken }),
    },
  };
}

async function signedIdToken(
  context: ServerContext,
  request: {
    readonly family: Family;
    readonly user: UserInterface;
    readonly scopes: readonly string[];
    readonly nonce: string | null;
    readonly accessToken: string;
    readonly now: number;
  },
): Promise<string> {
  const key = await context.keys.active();
  if (key === null) throw new Error(`There is no signing key in ${context.config.key_path}`);
  // A scope whose permission the person has lost meanwhile releases nothing.
  const { host, scopes: catalog } = context;
  const held = await scopesHeldBy(host, catalog, request.scopes, request.family.person);
  return signIdToken(key, {
    issuer: context.issuer,
    subject: request.family.subject,
    clientId: request.family.clientId,
    issuedAt: request.now,
    lifetime: context.config.id_token_ttl,
    nonce: request.nonce,
    accessToken: request.accessToken,
    claims: await context.claims(request.user, held),
  });
}
