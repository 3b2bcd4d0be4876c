import type { Application } from '../host/contracts.ts';
import type { AuthorizationServer } from './authorization-server.ts';

/** What `oauth:server:setup` did and found. */
export interface SetupReport {
  /** The key that signs, and whether this run made it. */
  readonly signing_key: { readonly kid: string; readonly created: boolean };
  /** What is still missing, each with what to do; empty when the server is ready. */
  readonly missing: readonly string[];
}

/** Creates the signing key if none exists, and says what else the server needs. Safe to run again. */
export async function setUpServer(
  application: Application,
  server: AuthorizationServer,
): Promise<SetupReport> {
  const existing = (await server.keys.all())[0];
  const key = existing ?? (await server.keys.generate());
  return {
    signing_key: { kid: key.kid, created: existing === undefined },
    missing: await missingParts(application, server),
  };
}

async function missingParts(
  application: Application,
  server: AuthorizationServer,
): Promise<readonly string[]> {
  const missing: string[] = [];
  const { login_route: loginRoute } = server.config;
  if (!loginRoute.startsWith('/') && !application.hasRoute(loginRoute)) {
    missing.push(
      `oauth_server:login_route: no route is named '${loginRoute}'; give the application accounts, or name its sign-in route`,
    );
  }
  try {
    if ((await server.clients.list()).length === 0) {
      missing.push(
        "no client is registered; run oauth:client:create '<name>' --redirect=<uri> --scope=<scope>",
      );
    }
  } catch (error) {
    application.log.warning('The schema cannot be read: {exception}', { exception: error });
    missing.push('the schema cannot be read; run db:migrate up (details are in the log)');
  }
  return missing;
}
