import {
  KeyRotationError,
  setUpServer,
  type AuthorizationServer,
  type ExaminedApplication,
} from 'portico/oauth-server';

/**
 * As `oauth:server:setup`, also for a portal that is started on the database of another: its directory of keys is its own, which setup takes
 * for one that lost them.
 */
export async function ensureSigningKey(
  application: Pick<ExaminedApplication, 'hasRoute'>,
  server: AuthorizationServer,
): Promise<void> {
  try {
    await setUpServer(application, server);
  } catch (error) {
    if (!(error instanceof KeyRotationError)) throw error;
    await server.keys.generate(server.config.profile === undefined ? 'RS256' : 'ES256');
  }
}
