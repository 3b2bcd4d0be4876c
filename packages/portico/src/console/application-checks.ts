import type { AuthorizationServer } from '../authorization-server.ts';
import { failing, ok, skipped, type Finding } from './checks.ts';
import type { ExaminedApplication } from '../examination.ts';
import type { Subject } from './subject.ts';

// Only applications of `@portico/kit` have named routes.

const NO_ROUTES = 'the application has no named routes';
const ADD_ONLINE = '. To check that requests to this URL reach this server, add --online';

export function examineLoginRoute({
  application,
  server,
}: {
  readonly application: ExaminedApplication;
  readonly server: AuthorizationServer;
}): Finding {
  const { login_route: route } = server.config;
  if (route.startsWith('/') || application.hasRoute?.(route) === true) return ok(route);
  if (application.hasRoute === undefined) return skipped(NO_ROUTES);
  const ownLogin = findLogin(server);
  if (ownLogin !== null) return ok(ownLogin);
  return failing(
    `oauth_server:login_route: no route is named '${route}'`,
    'pass accounts to the application. Or set oauth_server:login_route to the route of ' +
      'your sign-in page',
  );
}

/**
 * Returns the path of the sign-in page, or null, for example if the kit does not have the route.
 */
function findLogin({ host }: AuthorizationServer): string | null {
  try {
    return host.loginUrl('/').replace(/[?#].*$/s, '');
  } catch {
    return null;
  }
}

export async function examineEndpoints(
  { application, server }: Subject,
  online: boolean,
): Promise<Finding> {
  if (!server.config.routes)
    return skipped(
      'not checked: the application mounts the endpoints itself (oauth_server:routes is false)',
    );
  if (application.fetch === undefined)
    return skipped('not checked: the application mounts the endpoints itself');
  const url = `${server.issuer}/.well-known/openid-configuration`;
  const arriving = `${server.origin}${server.mountPath}/.well-known/openid-configuration`;
  const response = await application.fetch(new Request(arriving));
  const document = (await response.json()) as { readonly issuer?: unknown };
  if (response.status === 200 && document.issuer === server.issuer)
    return ok(`this process serves ${url}${online ? '' : ADD_ONLINE}`);
  return failing(
    `${url} returns ${response.status} instead of the server's metadata`,
    'find out which route or hook of the application sends this response',
  );
}

export function examineExemptions({ application, server }: Subject): Finding {
  if (!server.config.routes) return skipped('oauth_server:routes is false');
  if (application.config === undefined) return skipped(NO_ROUTES);
  const configured = application.config['csrf_exempt_routes'] as Readonly<Record<string, boolean>>;
  const checked = Object.keys(server.csrfExemptRoutes).filter((name) => configured[name] !== true);
  if (checked.length === 0) return ok('the protocol endpoints are exempt from the CSRF check');
  return failing(
    `the application's CSRF check blocks client requests to these routes: ${checked.join(', ')}`,
    'in csrf_exempt_routes, remove the entries that set these routes to false',
  );
}
