import { isPromise } from 'node:util/types';
import type { Log } from '@portico/sql';
import type { PasswordHasher } from '../host/password-hasher.ts';
import { currentContext, withCurrentRequestId } from '../http/context.ts';
import type { AuditEvent } from '../auditing/audit.ts';
import type { Browsers } from '../authorization/browsers.ts';
import type { CompleteHost, Host } from '../host/host.ts';
import type { SessionEnds } from '../host/session-ends.ts';

/**
 * The defaults for members that a host omits. Portico calls `log`, `renderer` and `passwordHasher`
 * when it creates a server. It calls the others in place of the omitted method.
 */
export interface HostDefaults {
  log(): Log;
  renderer(): CompleteHost['render'];
  passwordHasher(): PasswordHasher;
  /**
   * Returns the client's IP address, or null. Called if the framework's request does not contain
   * it.
   */
  clientAddress(): string | null;
  /** Receives audit events after Portico has written them to the log. */
  audit(event: AuditEvent): Promise<void>;
}

/**
 * Completes an application's host: adds defaults, and passes the request's context to each method.
 * The kit's host is already complete.
 */
export function completeHost<Context>(
  host: Host<Context>,
  defaults: HostDefaults,
  browsers: Browsers,
  sessions: SessionEnds,
): CompleteHost {
  // The mount passes the context. The application must declare the matching `Context` type.
  const context = () => currentContext() as Context;
  requirePath('loginUrl', host.loginUrl);
  requirePath('signOut', host.signOut);
  requirePath('reauthenticateUrl', host.reauthenticateUrl);
  const log = withCurrentRequestId(host.log ?? defaults.log());
  // The host can be an instance of a class, so bind its methods.
  const render = host.render?.bind(host);
  const address = host.clientAddress?.bind(host);
  const audit = host.audit?.bind(host);

  function loginUrl(returnTo: string): string {
    const { loginUrl: path } = host;
    return typeof path === 'string'
      ? withReturn(path, returnTo)
      : requireUrl('loginUrl', path.call(host, returnTo, context()));
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
        : (request) => requireAddress(address(request, context())),
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

function getAccounts<Context>(
  host: Host<Context>,
  context: () => Context,
): { readonly [Member in AccountMember]: CompleteHost[Member] } {
  const findPeople = host.findPeople?.bind(host);
  const accountFor = host.accountFor?.bind(host);
  const authenticatedAt = host.authenticatedAt?.bind(host);
  const sessionId = host.sessionId?.bind(host);
  return {
    // JavaScript hosts may return undefined from a look-up that finds nothing.
    signedIn: async (request) => (await host.signedIn(request, context())) ?? null,
    loadAccount: async (person) => (await host.loadAccount(person, context())) ?? null,
    holdsPermission: (person, permission) => host.holdsPermission(person, permission, context()),
    accountFor:
      accountFor === undefined
        ? null
        : async (assertion) => (await accountFor(assertion, context())) ?? null,
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

function completeReauthenticateUrl<Context>(
  host: Host<Context>,
  context: () => Context,
): CompleteHost['reauthenticateUrl'] {
  const { reauthenticateUrl: page } = host;
  if (page === undefined) return null;
  return (returnTo, asked) =>
    typeof page === 'string'
      ? withReturn(page, returnTo, asked.acrValues)
      : requireUrl('reauthenticateUrl', page.call(host, returnTo, asked, context()));
}

interface BrowserMembers {
  readonly browserSecret: CompleteHost['browserSecret'];
  readonly signOut: CompleteHost['signOut'];
  readonly endSession: CompleteHost['endSession'];
  readonly commit: CompleteHost['commit'];
}

/** Without `browserSecret` in the host, a Portico cookie replaces it. */
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
    // Record the end of the session before the host signs the user out. If the process stops in
    // between, clients are still notified.
    const id = sessions.isHeard ? await host.sessionId?.(request, context()) : null;
    // Throws if the session id is not a string. Otherwise, Portico would silently notify no client.
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
 * Throws if a string is not a path on this host. A page on another origin could not send users
 * back, because `return_to` is a path.
 */
function requirePath(member: string, given: unknown): void {
  if (typeof given !== 'string' || /^\/(?![/\\])/.test(given)) return;
  throw new Error(
    `Host.${member} is '${given}', but must be a path that begins with one slash; for ` +
      'another URL, pass a function',
  );
}

/**
 * Throws for another type than a string. A host in JavaScript may return a promise, for example.
 */
function requireUrl(member: string, returned: unknown): string {
  if (typeof returned === 'string') return inAscii(returned);
  // A URL object. Frameworks have their own classes, for example Next's NextURL.
  if (typeof returned === 'object' && returned !== null && 'href' in returned)
    return inAscii(String(returned.href));
  throw new Error(`Host.${member} returned ${describeType(returned)}, but must return a string`);
}

/** Throws if a host in JavaScript returned a promise. Any other value is not an address. */
function requireAddress(returned: unknown): string | null {
  if (typeof returned === 'string') return returned;
  if (!isPromise(returned)) return null;
  throw new Error(
    `Host.clientAddress returned ${describeType(returned)}, but must return a string or null`,
  );
}

function describeType(returned: unknown): string {
  if (!isPromise(returned)) return returned === null ? 'null' : typeof returned;
  // An unhandled rejection would end the process.
  returned.catch(() => {});
  return 'a promise';
}

/** Percent-encodes the characters that a header cannot contain. */
function inAscii(url: string): string {
  return url.replaceAll(/\P{ASCII}+/gu, (text) => encodeURIComponent(text.toWellFormed()));
}

/**
 * Adds `return_to` to the path, and `acr_values` if there are any. The path can contain any
 * characters.
 */
export function withReturn(
  path: string,
  returnTo: string,
  acrValues: readonly string[] = [],
): string {
  const parameters = new URLSearchParams({ return_to: returnTo });
  if (acrValues.length > 0) parameters.set('acr_values', acrValues.join(' '));
  return `${inAscii(path)}${path.includes('?') ? '&' : '?'}${parameters}`;
}

/** Where a framework's request can contain the client's IP address. */
interface Addressed {
  readonly ip?: unknown;
  readonly socket?: { readonly remoteAddress?: unknown };
  /** What the runtime adds to Hono's context. On Node, this is Node's request. */
  readonly env?: { readonly incoming?: Addressed };
}

/**
 * Returns `ip`, which follows the framework's proxy setting, or the remote address of Node's
 * connection.
 */
function addressIn(context: unknown): string | null {
  const { ip, socket, env } = (context ?? {}) as Addressed;
  const connection = socket ?? env?.incoming?.socket;
  const address = typeof ip === 'string' ? ip : connection?.remoteAddress;
  return typeof address === 'string' ? address : null;
}

/** The line contains `authorization` as `authorizationId`. */
function writeAuditLine(log: Log, event: AuditEvent): void {
  const { type, authorization, ...fields } = { authorization: undefined, ...event };
  const named = authorization === undefined ? {} : { authorizationId: authorization };
  log.info('audit: {event}', { event: type, ...named, ...fields });
}
