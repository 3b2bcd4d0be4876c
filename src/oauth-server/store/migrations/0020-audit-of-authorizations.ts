import type { Migration } from '../../../sql/schema.ts';

/**
 * By which the kept events about an authorization are found. On PostgreSQL, where an index is not made while rows are written, it may have
 * been made before (`CREATE INDEX CONCURRENTLY`).
 */
export const auditOfAuthorizations: Migration = {
  name: 'oauth_server_0020_audit_of_authorizations',
  async up({ change, dialect }) {
    const unlessThere = dialect === 'postgres' ? 'IF NOT EXISTS ' : '';
    await change(`CREATE INDEX ${unlessThere}oauth_audit_authorization ON oauth_audit (family_id, id)`);
  },
};
