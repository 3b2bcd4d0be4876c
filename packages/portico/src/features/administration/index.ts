import { defineFeature } from '../../feature.ts';
import { administrationShape } from './config.ts';
import { examinePermission } from './examination.ts';
import { lazyAdministration } from './lazy.ts';
import { ADMINISTRATION_TABLE } from './table.ts';

/** The administrator's pages. */
export const administration = defineFeature({
  name: 'administration',
  config: administrationShape,
  endpoints: ADMINISTRATION_TABLE,
  start(server, { admin_permission: permission }) {
    if (permission === undefined) return {};
    const { accounts, singleUses, scopes, store, database, branding, paths } = server;
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
          branding: branding?.view ?? null,
          home: paths.home,
        }));
        return Object.fromEntries(
          ADMINISTRATION_TABLE.map(({ name }) => [name, (request: Request) => answer(name, request)]),
        );
      },
    };
  },
});
