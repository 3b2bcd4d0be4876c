import type { Migration } from '../../../sql/schema.ts';

/**
 * The audit that is kept (`oauth_server:audit:keep`); empty without it. The key begins with the time, and each index ends with it: a
 * list is read from its newest row on, between two times, whatever it is asked for. Nothing here is good for anything: no secret,
 * token or code, nor the hash of one.
 */
export const keptAudit: Migration = {
  name: 'oauth_server_0016_audit',
  async up({ dialect, change, types }) {
    const { identifier, text, time, tableOptions } = types;
    await change(`CREATE TABLE oauth_audit (
      id ${identifier} NOT NULL PRIMARY KEY,
      happened_at ${time} NOT NULL,
      type ${identifier} NOT NULL,
      client_id ${identifier},
      user_provider ${identifier},
      user_id ${identifier},
      by_provider ${identifier},
      by_id ${identifier},
      address ${identifier},
      request_id ${identifier},
      family_id ${identifier},
      reason ${identifier},
      details ${text} NOT NULL
    ) ${tableOptions}`);
    await change('CREATE INDEX oauth_audit_client ON oauth_audit (client_id, id)');
    await change('CREATE INDEX oauth_audit_user ON oauth_audit (user_provider, user_id, id)');
    await change('CREATE INDEX oauth_audit_type ON oauth_audit (type, id)');
    // Few rows name an administrator. MySQL has no index of some rows only.
    const some = dialect === 'mysql' ? '' : ' WHERE by_id IS NOT NULL';
    await change(`CREATE INDEX oauth_audit_by ON oauth_audit (by_provider, by_id, id)${some}`);
  },
};
