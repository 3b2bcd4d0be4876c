import type { SqlDialect } from '../../../sql/contract.ts';
import type { Migration } from '../../../sql/schema.ts';

/**
 * Families become rows, authorizations carry their target, and clients the secret they last replaced. Whoever could
 * use a code or token before can use it afterwards: nobody is signed out. Earlier authorizations have no target.
 */
export const familiesAndTargets: Migration = {
  name: 'oauth_server_0002_families_and_targets',
  async up(schema) {
    const { types, change } = schema;
    const { identifier, text, time, tableOptions } = types;
    await change(`ALTER TABLE oauth_clients ADD COLUMN previous_secret_hash ${text}`);
    await change(`ALTER TABLE oauth_clients ADD COLUMN previous_secret_expires_at ${time}`);
    await change(`ALTER TABLE oauth_consent_requests ADD COLUMN audience ${text}`);
    await change(`ALTER TABLE oauth_access_tokens ADD COLUMN audience ${text}`);
    await change(`CREATE TABLE oauth_families (
      id ${identifier} NOT NULL PRIMARY KEY,
      client_id ${identifier} NOT NULL,
      user_provider ${identifier} NOT NULL,
      user_id ${identifier} NOT NULL,
      subject ${identifier} NOT NULL,
      scope ${text} NOT NULL,
      audience ${text},
      created_at ${time} NOT NULL,
      expires_at ${time} NOT NULL,
      revoked_at ${time}
    ) ${tableOptions}`);
    await change('CREATE INDEX oauth_families_expiry ON oauth_families (expires_at)');
    await change('CREATE INDEX oauth_families_person ON oauth_families (user_provider, user_id)');

    await schema.execute(
      `INSERT INTO oauth_subjects (user_provider, user_id, subject)
      SELECT p.user_provider, p.user_id, ${NEW_SUBJECT[schema.dialect]} FROM (
        SELECT DISTINCT t.user_provider, t.user_id FROM (${DESCENDANTS}) t
        LEFT JOIN oauth_subjects s ON s.user_provider = t.user_provider AND s.user_id = t.user_id
        WHERE s.subject IS NULL
      ) p`,
    );
    await schema.execute(FILL_FAMILIES);
    // An access token that was revoked by itself has expired from then on.
    await schema.execute(
      'UPDATE oauth_access_tokens SET expires_at = revoked_at WHERE revoked_at < expires_at',
    );
  },
};

/** 32 hexadecimal digits that no other row has; a subject is no secret. */
const NEW_SUBJECT: Readonly<Record<SqlDialect, string>> = {
  sqlite: 'lower(hex(randomblob(16)))',
  postgres: "replace(CAST(gen_random_uuid() AS TEXT), '-', '')",
  // Not every release of MariaDB has RANDOM_BYTES.
  mysql: 'LEFT(SHA2(CONCAT(UUID(), RAND(), RAND()), 256), 32)',
};

/** Everything that descends from an authorization. A narrowed access token does not tell what was granted. */
const DESCENDANTS = `
  SELECT family_id, client_id, user_provider, user_id, scope AS granted_scope, NULL AS narrowed_scope,
    expires_at AS issued_at, expires_at, NULL AS revoked_at
  FROM oauth_authorization_codes
  UNION ALL
  SELECT family_id, client_id, user_provider, user_id, scope, NULL, issued_at, expires_at, revoked_at
  FROM oauth_refresh_tokens
  UNION ALL
  SELECT family_id, client_id, user_provider, user_id, NULL, scope, issued_at, expires_at, NULL
  FROM oauth_access_tokens WHERE family_id IS NOT NULL`;

/** A family that was revoked had its refresh tokens revoked. Run twice, it adds nothing. */
const FILL_FAMILIES = `
  INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, audience, created_at,
    expires_at, revoked_at)
  SELECT t.family_id, MIN(t.client_id), MIN(t.user_provider), MIN(t.user_id), MIN(s.subject),
    COALESCE(MIN(t.granted_scope), MAX(t.narrowed_scope)), NULL, MIN(t.issued_at), MAX(t.expires_at), MIN(t.revoked_at)
  FROM (${DESCENDANTS}) t
  JOIN oauth_subjects s ON s.user_provider = t.user_provider AND s.user_id = t.user_id
  WHERE NOT EXISTS (SELECT 1 FROM oauth_families f WHERE f.id = t.family_id)
  GROUP BY t.family_id`;
