import type { ConsoleContext } from '../application/contracts.ts';
import type { AuthorizationServer } from '../authorization-server.ts';

/** The name under which `app.services` holds the AuthorizationServer. */
export const OAUTH_SERVER = 'oauth_server';

/** The authorization server of a started application. Throws when the plugin is not part of it. */
export function authorizationServerOf(application: {
  readonly services: ReadonlyMap<string, unknown>;
}): AuthorizationServer {
  const server = application.services.get(OAUTH_SERVER);
  if (server === undefined) throw new Error('The application has no oauthServer() among its plugins');
  return server as AuthorizationServer;
}

/** The authorization server of the application that a console command works on. */
export async function openServer(context: ConsoleContext): Promise<AuthorizationServer> {
  return authorizationServerOf(await context.application());
}
