import type { GrantRules } from '../store/grant-types.ts';
import type { Measuring } from '../measuring.ts';
import { AuthorizationCodeGrant } from './authorization-code.ts';
import { ClientCredentialsGrant } from './client-credentials.ts';
import { OAuthError } from '../errors.ts';
import { requireGrant, type TokenGrant } from './grant.ts';
import type { GrantParts } from './parts.ts';
import { RefreshTokenGrant } from './refresh-token.ts';

/** A grant type that the token endpoint supports. */
export interface GrantType extends GrantRules {
  /** Creates the handler for this grant type. Portico calls this function once per server. */
  readonly grant: (parts: GrantParts) => TokenGrant;
  /**
   * True if the handler itself checks that the client may use this grant. By default, the server
   * checks this before it calls the handler.
   */
  readonly checksClient?: boolean;
}

/** The grant types of every server, in the order of the metadata. */
export const GRANT_TYPES: readonly GrantType[] = [
  {
    name: 'authorization_code',
    begins: 'person',
    clients: 'any',
    grant: (parts) => new AuthorizationCodeGrant(parts),
    checksClient: true,
  },
  {
    name: 'refresh_token',
    begins: null,
    clients: 'any',
    grant: (parts) => new RefreshTokenGrant(parts),
  },
  {
    name: 'client_credentials',
    begins: 'client',
    clients: 'confidential',
    grant: (parts) => new ClientCredentialsGrant(parts),
  },
];

/** By `grant_type`. */
export type Grants = ReadonlyMap<string, TokenGrant>;

export function makeGrants(types: readonly GrantType[], parts: GrantParts): Grants {
  const { measuring } = parts.server;
  return new Map(
    types.map((type) => {
      const grant = checked(type, type.grant(parts));
      return [type.name, measuring === null ? grant : measured(type.name, grant, measuring)];
    }),
  );
}

function checked(
  { name, begins, clients, checksClient = false }: GrantType,
  grant: TokenGrant,
): TokenGrant {
  if (checksClient) return grant;
  return {
    async answer(client, form, proved) {
      requireGrant(client, name);
      // Check this for every request. The client may be older than this requirement of the grant.
      if (clients !== 'any' && client.public) throw notForPublicClients(name);
      if (begins === 'organization' && client.registeredBy !== 'operator')
        throw notRegistered(name);
      return grant.answer(client, form, proved);
    },
  };
}

function notForPublicClients(name: string): OAuthError {
  return new OAuthError(
    'unauthorized_client',
    `Public clients cannot use the grant ${name}.`,
    'the client is public, so it cannot prove its identity',
  );
}

function notRegistered(name: string): OAuthError {
  return new OAuthError(
    'unauthorized_client',
    `Only clients that an operator registered can use the grant ${name}.`,
    'the client was not registered by an operator',
  );
}

function measured(name: string, grant: TokenGrant, measuring: Measuring): TokenGrant {
  const task = { kind: 'grant', name } as const;
  return {
    answer: (client, form, proved) =>
      measuring.grant(task, () => grant.answer(client, form, proved)),
  };
}
