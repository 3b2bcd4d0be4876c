/** A row of `oauth_consent_requests` that asks Ada, without its `id_hash` and `expires_at`. */
export const CONSENT_REQUEST_ROW = {
  browser_hash: '',
  client_id: 'notes',
  parameters: '{}',
  user_provider: 'accounts',
  user_id: 'ada',
  asked_scope: '',
};
