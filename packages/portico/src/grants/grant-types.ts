import { createAuthorizationCodeGrant, type AuthorizationCodeGrantOptions } from './authorization-code.ts';
import { createClientCredentialsGrant, type ClientCredentialsGrantOptions } from './client-credentials.ts';
import type { Measuring } from '../measuring/measuring.ts';
import type { GrantHandler } from './grant.ts';
import { RefreshTokenGrant, type RefreshTokenGrantOptions } from './refresh-token.ts';

/** What all the grants need. */
export type GrantsOptions = AuthorizationCodeGrantOptions &
  RefreshTokenGrantOptions &
  ClientCredentialsGrantOptions;

/** The grants by `grant_type`; metadata lists them in this order. */
const GRANTS: Readonly<Record<string, (options: GrantsOptions) => GrantHandler>> = {
  authorization_code: createAuthorizationCodeGrant,
  refresh_token(options) {
    const grant = new RefreshTokenGrant(options);
    return (client, form, proved) => grant.answer(client, form, proved);
  },
  client_credentials: createClientCredentialsGrant,
};

/** The values of `grant_type` that the token endpoint knows. */
export const GRANT_TYPES_SUPPORTED: readonly string[] = Object.keys(GRANTS);

/** The grants of a server, by `grant_type`. */
export type Grants = ReadonlyMap<string, GrantHandler>;

export function createGrants(options: GrantsOptions): Grants {
  return new Map(
    Object.entries(GRANTS).map(([grantType, create]) => {
      const grant = create(options);
      return [grantType, options.measuring === null ? grant : measured(grantType, grant, options.measuring)];
    }),
  );
}

function measured(name: string, grant: GrantHandler, measuring: Measuring): GrantHandler {
  const task = { kind: 'grant', name } as const;
  return (client, form, proved) => measuring.grant(task, () => grant(client, form, proved));
}
