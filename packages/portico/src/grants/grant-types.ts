import type { Measuring } from '../measuring/measuring.ts';
import { AuthorizationCodeGrant } from './authorization-code.ts';
import { ClientCredentialsGrant } from './client-credentials.ts';
import type { TokenGrant } from './grant.ts';
import type { GrantParts } from './parts.ts';
import { RefreshTokenGrant } from './refresh-token.ts';

/** The grants by `grant_type`; metadata lists them in this order. */
const GRANTS: Readonly<Record<string, new (parts: GrantParts) => TokenGrant>> = {
  authorization_code: AuthorizationCodeGrant,
  refresh_token: RefreshTokenGrant,
  client_credentials: ClientCredentialsGrant,
};

/** The values of `grant_type` that the token endpoint knows. */
export const GRANT_TYPES_SUPPORTED: readonly string[] = Object.keys(GRANTS);

/** The grants of a server, by `grant_type`. */
export type Grants = ReadonlyMap<string, TokenGrant>;

/** Makes the grants of a server. */
export function grantsOf(parts: GrantParts): Grants {
  const { measuring } = parts.server;
  return new Map(
    Object.entries(GRANTS).map(([grantType, Grant]) => {
      const grant = new Grant(parts);
      return [grantType, measuring === null ? grant : measured(grantType, grant, measuring)];
    }),
  );
}

function measured(name: string, grant: TokenGrant, measuring: Measuring): TokenGrant {
  const task = { kind: 'grant', name } as const;
  return {
    answer: (client, form, proved) => measuring.grant(task, () => grant.answer(client, form, proved)),
  };
}
