import type { Log } from '@portico/sql';
import type { AuditEvent } from '../auditing/audit.ts';
import type { Browsers } from '../authorization/browsers.ts';
import type { Host } from '../host/host.ts';
import type { SessionEnds } from '../host/session-ends.ts';
import { runInContext } from '../http/context.ts';
import { completeHost, type HostDefaults } from './complete-host.ts';

export const ADA = { provider: 'users', id: '1' };
export const REQUEST = new Request('https://app.example/');
export const CONTEXT = { of: 'the framework' };
export const EVENT: AuditEvent = { type: 'secret_rotated', clientId: 'a', previousExpiresAt: null };

/** Completes a host. `did` has what the defaults, the browsers and the sessions did. */
export function complete(
  given: object = {},
  { isHeard = true, cookie = 'a=b' }: { isHeard?: boolean; cookie?: string | null } = {},
) {
  const did: unknown[] = [];
  const note = (message: string, context?: object) => void did.push([message, context]);
  const log: Log = { debug: note, info: note, warning: note, error: note };
  const defaults = {
    log: () => log,
    renderer: () => async () => 'the default page',
    passwordHasher: () => 'the default hasher',
    clientAddress: () => '192.0.2.9',
    audit: async (event: AuditEvent) => void did.push(['audit', event.type]),
  } as unknown as HostDefaults;
  const browsers = {
    secret: async () => 'the secret of the cookie',
    renew: () => void did.push('renewed'),
    setCookie: async () => cookie,
  } as unknown as Browsers;
  const sessions = {
    isHeard,
    ended: async (ended: unknown) => void did.push(['ended', ended]),
  } as unknown as SessionEnds;
  const host = { loginUrl: '/login', ...given } as unknown as Host;
  const completed = completeHost(host, defaults, browsers, sessions);
  return { host: completed, did, within: <T>(work: () => T) => runInContext(CONTEXT, 'r', work) };
}
