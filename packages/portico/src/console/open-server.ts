import type { ConsoleContext } from '../application/console-context.ts';
import type { AuthorizationServer } from '../authorization-server.ts';

/** `app.services` contains the AuthorizationServer under this name. */
export const OAUTH_SERVER = 'oauth_server';

/**
 * Returns the authorization server of a started application. Throws if the application does not use
 * the plugin.
 *
 * @example
 * const server = authorizationServerOf(await startApplication(definition));
 */
export function authorizationServerOf(application: {
  readonly services: ReadonlyMap<string, unknown>;
}): AuthorizationServer {
  const server = application.services.get(OAUTH_SERVER);
  if (server === undefined)
    throw new Error(
      'The application has no authorization server; add oauthServer() to its plugins',
    );
  return server as AuthorizationServer;
}

/**
 * Returns the server for a console command. The command must not deliver messages, even if it sends
 * a request to the application, so this stops the outbox.
 */
export async function openServer(context: ConsoleContext): Promise<AuthorizationServer> {
  const server = authorizationServerOf(await context.application());
  await server.outbox.stop();
  return server;
}
