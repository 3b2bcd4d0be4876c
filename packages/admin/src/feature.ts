import { defineFeature } from 'portico';
import * as z from 'zod/mini';
import { examinePermission } from './examination.ts';
import { lazyAdministration } from './lazy.ts';
import { ADMINISTRATION_TABLE } from './table.ts';

const hint = 'set it to the permission that administrators must have';

const permissionSchema = z
  .string(`must be the name of a permission; ${hint}`)
  .check(z.refine((text) => text.trim() !== '', `is empty; ${hint}`));

/**
 * The feature that adds the administrator's pages below `/oauth/admin`.
 *
 * @example
 * defineApplication({ config, plugins: [oauthServer({ features: [administration] })] });
 */
export const administration = defineFeature({
  name: 'administration',
  config: { admin_permission: z.optional(permissionSchema) },
  endpoints: ADMINISTRATION_TABLE,
  start(server, { admin_permission: permission }) {
    if (permission === undefined) return {};
    const { accounts, singleUses, scopes, store, database, migrations, branding, paths } = server;
    return {
      usesOnce: true,
      examination: () => ({
        part: 'administration',
        findings: () => examinePermission(permission, scopes),
      }),
      handlers: (parts) => {
        const answer = lazyAdministration(() => ({
          server: parts.server(),
          permission,
          accounts,
          singleUses,
          scopes,
          examined: parts.examined,
          store: store.authorizationSearch,
          database,
          migrations,
          branding: branding?.view ?? null,
          home: paths.home,
        }));
        return Object.fromEntries(
          ADMINISTRATION_TABLE.map(({ name }) => [
            name,
            (request: Request) => answer(name, request),
          ]),
        );
      },
    };
  },
});
