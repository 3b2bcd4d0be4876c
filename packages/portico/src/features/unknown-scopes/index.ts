import { defineFeature } from '../../feature.ts';
import type { DropsScope } from '../../tokens/dropped-scopes.ts';
import { IDENTITY_SCOPES } from '../../tokens/scopes.ts';
import { unknownScopesShape } from './config.ts';

/**
 * Decides what happens if a client requests scopes that the server does not offer or the client is
 * not registered for (OpenID Connect Core section 3.1.2.1).
 */
export const unknownScopes = defineFeature({
  name: 'unknown_scopes',
  config: unknownScopesShape,
  start: (_, { unknown_scopes: mode = 'refuse' }) =>
    mode === 'ignore' ? { dropsScope: isUnknown } : {},
});

/**
 * Whether the scope is unknown, belongs to another resource, or is not one of the client's scopes.
 * In a request of a client for itself, also true for scopes about a user. Otherwise, false.
 * Therefore, the server still rejects a refresh request for more scopes than granted, and a request
 * for `openid` while there is no signing key.
 */
const isUnknown: DropsScope = ({ name, client, grantable, forItself }) =>
  !grantable.has(name) ||
  !client.scopes.includes(name) ||
  (forItself && Object.hasOwn(IDENTITY_SCOPES, name));
