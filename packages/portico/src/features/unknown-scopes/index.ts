import { defineFeature } from '../../feature.ts';
import type { DropsScope } from '../../tokens/dropped-scopes.ts';
import { IDENTITY_SCOPES } from '../../tokens/scopes.ts';
import { unknownScopesShape } from './config.ts';

/**
 * Decides about requested scopes that the server does not offer or the client is not registered for
 * (OpenID Connect Core section 3.1.2.1).
 */
export const unknownScopes = defineFeature({
  name: 'unknown_scopes',
  config: unknownScopesShape,
  start: (_, { unknown_scopes: mode = 'refuse' }) =>
    mode === 'ignore' ? { dropsScope: isUnknown } : {},
});

/**
 * Returns true if the scope is unknown, belongs to another resource, or is not one of the client's.
 * In a request of a client for itself, scopes about a user count too.
 *
 * A refresh request for more scopes than granted is still rejected. So is a request for `openid`
 * without a signing key.
 */
const isUnknown: DropsScope = ({ name, client, grantable, forItself }) =>
  !grantable.has(name) ||
  !client.scopes.includes(name) ||
  (forItself && Object.hasOwn(IDENTITY_SCOPES, name));
