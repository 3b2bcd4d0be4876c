import { registerClient, type RunningPortal, type TestClient } from './portal.ts';

export interface UnverifiedClient {
  /** The URL of its document. Null for a client that registered itself. */
  readonly document: string | null;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes?: readonly string[];
}

/** Stores a client that no operator registered, as it is after its first use. Fetches nothing. */
export async function putUnverified(
  portal: RunningPortal,
  client: UnverifiedClient,
): Promise<TestClient> {
  const { document, name, redirectUris, scopes = ['openid', 'notes:read', 'notes:write'] } = client;
  const { id } = await registerClient(portal, { name: 'Given below', scopes, public: true });
  await portal.application.database.execute(
    `UPDATE oauth_clients SET client_id = ?, name = ?, redirect_uris = ?, registered_by = ?, document_fresh_until = ?
    WHERE client_id = ?`,
    [
      document ?? id,
      name,
      JSON.stringify(redirectUris),
      document === null ? 'registration' : 'document',
      document === null ? null : Date.now() + 86_000_000,
      id,
    ],
  );
  return { id: document ?? id, secret: '' };
}
