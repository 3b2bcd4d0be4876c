import { defineFeature } from '../../feature.ts';
import { givenBy } from '../../store/given-access.ts';
import { jwtBearerShape } from './config.ts';
import { jwtBearerGrant } from './grant.ts';
import { Links } from './links.ts';
import { jwtBearerMigrations } from './migrations.ts';
import { OrganizationAccess } from './organization-access.ts';
import { Pairs } from './pairs.ts';

declare module '../../store/pruning.ts' {
  interface PrunedRows {
    /**
     * How many records of access from organizations were deleted because the access was not used
     * for ninety days. Missing if `jwt_bearer_grant` is off.
     */
    readonly givenAccess?: number;
  }
}

declare module '../../authorization-server.ts' {
  interface FeatureMembers {
    /**
     * Manages links between the subjects of issuers and accounts, and access that has ended.
     * Missing if `oauth_server:jwt_bearer_grant` is off.
     */
    readonly organizationAccess?: OrganizationAccess;
  }
}

/**
 * The metadata lists this profile (draft-ietf-oauth-identity-assertion-authz-grant section 7.2).
 */
const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';
const BATCH = 100;
/** How long an unused row is kept after its last token has expired, in milliseconds. */
const UNUSED = 90 * 86_400_000;

/** The identity provider of an organization can give clients access to users' accounts (ID-JAG). */
export const jwtBearer = defineFeature({
  name: 'jwt_bearer',
  config: jwtBearerShape,
  migrations: ({ jwt_bearer_grant: isOn = false }) => (isOn ? jwtBearerMigrations : []),
  commands: async () => (await import('./commands.ts')).addJwtBearerCommands,
  start(server, { jwt_bearer_grant: isOn = false, access_token_ttl: lifetime }) {
    if (!isOn) return {};
    const { database, clock } = server;
    const pairs = new Pairs(database);
    const organizationAccess = new OrganizationAccess(server, new Links(database), pairs);
    return {
      metadata: { authorization_grant_profiles_supported: [ID_JAG_PROFILE] },
      grants: [jwtBearerGrant(organizationAccess, pairs)],
      givenAccess: organizationAccess,
      revokesAlso: (_revoked, other) => givenBy(other) !== null,
      members: () => ({ organizationAccess }),
      expiring: {
        kind: 'givenAccess',
        called: 'records of access that organizations gave',
        which: 'have not been used for ninety days',
        batch: BATCH,
        remove: (limit) => pairs.removeUnused(clock() - UNUSED - lifetime * 1000, limit),
      },
    };
  },
});
