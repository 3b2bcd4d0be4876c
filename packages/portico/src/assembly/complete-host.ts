import type { Log } from '@portico/sql';
import type { PasswordHasher } from '../host/password-hasher.ts';
import { currentContext, withCurrentRequestId } from '../http/context.ts';
import type { AuditEvent } from '../auditing/audit.ts';
import type { Browsers } from '../authorization/browsers.ts';
import type { CompleteHost, Host } from '../host/host.ts';
import type { SessionEnds } from '../host/session-ends.ts';

/**
 * The defaults for methods and properties that a host omits. While Portico creates the server, it
 * calls `log`, `renderer` and `passwordHasher` for each of these members that the host omits.
 * Later, it calls the other methods in place of the host's omitted methods.
 */
export interface HostDefaults {
  log(): Log;
  renderer(): CompleteHost['render'];
  passwordHasher(): PasswordHasher;
  /**
   * Returns the client's IP address for the current request, or null if the address is unknown.
   * Called if the framework's request contains no address.
   */
  clientAddress(): string | null;
  /** Receives audit events. Portico also writes them to the log. */
  audit(event: AuditEvent): Promise<void>;
}

/**
 * Completes an application's host: adds defaults for missing methods and properties, and passes the
 * request's context to each method. The kit's host is already complete and does not need this
 * function.
 */
export function completeHost<Context>(
  host: Host<Context>,
  defaults: HostDefaults,
  browsers: Browsers,
  sessions: SessionEnds,
): CompleteHost {
  // The context comes from the mount. The application declares the `Context` type that its mount
  // passes.
  const context = () => currentContext() as Context;
  requirePath('loginUrl', host.loginUrl);
  requirePath('signOut', host.signOut);
  requirePath('reauthenticateUrl', host.reauthenticateUrl);
  const log = withCurrentRequestId(host.log ?? defaults.log());
  // Bind the methods, because the host may be a class instance.
  const render = host.render?.bind(host);
  const address = host.clientAddress?.bind(host);
  const audit = host.audit?.bind(host);

  function loginUrl(returnTo: string): string {
    const { loginUrl: path } = host;
    return typeof path === 'string'
      ? withReturn(path, returnTo)
      : path.call(host, returnTo, context());
  }

  return {
    log,
    loginUrl,
    reauthenticateUrl: completeReauthenticateUrl(host, context),
    tellsWhoWaits: host.tellsWhoWaits === true,
    passwordHasher: host.passwordHasher ?? defaults.passwordHasher(),
    render:
      render === undefined ? defaults.renderer() : (view, data) => render(view, data, context()),
    clientAddress:
      address === undefined
        ? () => addressIn(currentContext()) ?? defaults.clientAddress()
        : (request) => address(request, context()),
    audit:
      audit === undefined
        ? async (event) => {
            writeAuditLine(log, event);
            await defaults.audit(event);
          }
        : (event) => audit(event, context()),
    ...getAccounts(host, context),
    ...getBrowser(host, context, loginUrl, browsers, sessions),
  };
}

type AccountMember =
  | 'signedIn'
  | 'loadAccount'
  | 'holdsPermission'
  | 'accountFor'
  | 'findPeople'
  | 'authenticatedAt'
  | 'sessionId';

/** Returns the host methods for accounts and their sessions. */
function getAccounts<Context>(
  host: Host<Context>,
  context: () => Context,
): { readonly [Member in AccountMember]: CompleteHost[Member] } {
  const findPeople = host.findPeople?.bind(host);
  const accountFor = host.accountFor?.bind(host);
  const authenticatedAt = host.authenticatedAt?.bind(host);
  const sessionId = host.sessionId?.bind(host);
  return {
    signedIn: (request) => host.signedIn(request, context()),
    loadAccount: (person) => host.loadAccount(person, context()),
    holdsPermission: (person, permission) => host.holdsPermission(person, permission, context()),
    accountFor:
      accountFor === undefined
        ? null
        : // JavaScript hosts may return undefined from a look-up that finds nothing.
          async (assertion) => (await accountFor(assertion, context())) ?? null,
    findPeople:
      findPeople === undefined ? null : (text, limit) => findPeople(text, limit, context()),
    authenticatedAt:
      authenticatedAt === undefined ? null : (request) => authenticatedAt(request, context()),
    sessionId:
      sessionId === undefined
        ? null
        : // JavaScript hosts may return undefined for a session that they do not know.
          async (request) => (await sessionId(request, context())) ?? null,
  };
}

/** Returns the host's reauthentication page as a function. */
function completeReauthenticateUrl<Context>(
  host: Host<Context>,
  context: () => Context,
): CompleteHost['reauthenticateUrl'] {
  const { reauthenticateUrl: page } = host;
  if (page === undefined) return null;
  return (returnTo, asked) =>
    typeof page === 'string'
      ? withReturn(page, returnTo, asked.acrValues)
      : page.call(host, returnTo, asked, context());
}

interface BrowserMembers {
  readonly browserSecret: CompleteHost['browserSecret'];
  readonly signOut: CompleteHost['signOut'];
  readonly endSession: CompleteHost['endSession'];
  readonly commit: CompleteHost['commit'];
}

/**
 * Returns the host methods for a browser. Uses the host's own browser secret, or a Portico cookie.
 */
function getBrowser<Context>(
  host: Host<Context>,
  context: () => Context,
  loginUrl: (returnTo: string) => string,
  browsers: Browsers,
  sessions: SessionEnds,
): BrowserMembers {
  const secret = host.browserSecret?.bind(host);
  const commit = host.commit?.bind(host);

  const { signOut: way } = host;
  async function leave(request: Request, returnTo: string): Promise<string | null> {
    if (typeof way === 'string') return withReturn(way, returnTo);
    // Record the end of the session before the sign-out. If the process stops in between, clients
    // are still notified.
    const id = sessions.isHeard ? await host.sessionId?.(request, context()) : null;
    // Throw if the session id is not a string. Otherwise, Portico would silently notify no client.
    if (id !== null && id !== undefined) await sessions.ended({ session: id });
    await way?.call(host, request, context());
    return null;
  }
  const endSession = way === undefined ? null : leave;

  async function signOut(request: Request, returnTo: string): Promise<string | null> {
    return endSession === null ? null : ((await leave(request, returnTo)) ?? loginUrl(returnTo));
  }

  if (secret !== undefined) {
    return {
      browserSecret: (request) => secret(request, context()),
      signOut,
      endSession,
      commit:
        commit === undefined
          ? null
          : async (request, response) => commit(request, response, context()),
    };
  }
  return {
    browserSecret: (request, person) => browsers.secret(request, person),
    signOut(request, returnTo) {
      browsers.renew(request);
      return signOut(request, returnTo);
    },
    endSession:
      endSession === null
        ? null
        : (request, returnTo) => {
            browsers.renew(request);
            return endSession(request, returnTo);
          },
    async commit(request, response) {
      await commit?.(request, response, context());
      const cookie = await browsers.setCookie(request);
      if (cookie !== null) response.headers.append('Set-Cookie', cookie);
    },
  };
}

/**
 * Throws if the value is a string but not a path on this host. `return_to` is a path, so a page on
 * another origin could not send people back.
 */
function requirePath(member: string, given: unknown): void {
  if (typeof given !== 'string' || /^\/(?![/\\])/.test(given)) return;
  throw new Error(
    `Host.${member} is '${given}', but must be a path that begins with one slash; for ` +
      'another URL, pass a function',
  );
}

/**
 * Returns the path with `returnTo` as the parameter `return_to`. Adds the parameter `acr_values` if
 * `acrValues` is not empty.
 */
export function withReturn(
  path: string,
  returnTo: string,
  acrValues: readonly string[] = [],
): string {
  const parameters = new URLSearchParams({ return_to: returnTo });
  if (acrValues.length > 0) parameters.set('acr_values', acrValues.join(' '));
  return `${path}${path.includes('?') ? '&' : '?'}${parameters}`;
}

/**
 * Returns the client's IP address from the framework's request: `ip`, which follows the framework's
 * proxy setting, or the remote address of Node's connection.
 */
function addressIn(context: unknown): string | null {
  const { ip, socket } = (context ?? {}) as {
    readonly ip?: unknown;
    readonly socket?: { readonly remoteAddress?: unknown };
  };
  const address = typeof ip === 'string' ? ip : socket?.remoteAddress;
  return typeof address === 'string' ? address : null;
}

/** Writes an audit event as a log line, with `authorization` renamed to `authorizationId`. */
function writeAuditLine(log: Log, event: AuditEvent): void {
  const { type, authorization, ...fields } = { authorization: undefined, ...event };
  const named = authorization === undefined ? {} : { authorizationId: authorization };
  log.info('audit: {event}', { event: type, ...named, ...fields });
}
