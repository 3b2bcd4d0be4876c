import type { AuditEvent } from './audit.ts';

/** The types of all audit events. */
export const EVENT_TYPES = Object.keys({
  consent_granted: true,
  consent_denied: true,
  tokens_issued: true,
  code_replayed: true,
  refresh_token_replayed: true,
  refresh_token_retried: true,
  family_revoked: true,
  access_token_revoked: true,
  signed_out: true,
  person_revoked: true,
  person_erased: true,
  access_ended: true,
  subjects_imported: true,
  subject_linked: true,
  subject_unlinked: true,
  access_allowed: true,
  client_registered: true,
  client_changed: true,
  client_updated: true,
  client_revoked: true,
  client_unblocked: true,
  secret_rotated: true,
  initial_access_token_created: true,
  initial_access_token_revoked: true,
  signing_key_created: true,
  signing_key_staged: true,
  signing_key_removed: true,
  admin_refused: true,
  tool_called: true,
  resource_read: true,
  client_authentication_failed: true,
  client_authentication_slowed: true,
  sign_in_failed: true,
  sign_in_slowed: true,
} satisfies Record<AuditEvent['type'], true>) as readonly AuditEvent['type'][];

export function isEventType(text: string): text is AuditEvent['type'] {
  return (EVENT_TYPES as readonly string[]).includes(text);
}
