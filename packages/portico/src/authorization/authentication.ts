import type { Authentication } from '../host/host.ts';
import { CLOCKS_DIFFER, type Server } from '../server.ts';

export interface KnownAuthentication extends Omit<Authentication, 'at'> {
  /** The time of authentication, in milliseconds since 1970. Never in the future. */
  readonly at: number;
}

/**
 * Asks the host when and how the signed-in user authenticated. Returns null if the host does not
 * know. Also returns null for a time far in the future, which proves nothing. Throws for an invalid
 * value.
 */
export async function findAuthentication(
  { host, clock }: Server,
  request: Request,
): Promise<KnownAuthentication | null> {
  const answer = (await host.authenticatedAt?.(request)) ?? null;
  if (answer === null) return null;
  const { at, acr, amr } = answer;
  const time: unknown = at instanceof Date ? at.getTime() : null;
  if (typeof time !== 'number' || !Number.isFinite(time) || time < 0)
    throw new Error('Host.authenticatedAt must return a valid Date as at');
  if (acr !== undefined && !isText(acr))
    throw new Error('Host.authenticatedAt must return a string as acr, or leave acr out');
  if (amr !== undefined && !(Array.isArray(amr) && amr.every(isText)))
    throw new Error('Host.authenticatedAt must return a list of strings as amr, or leave amr out');
  const now = clock();
  if (time > now + CLOCKS_DIFFER) {
    host.log.warning(
      'Host.authenticatedAt returned a time in the future: {at}. Portico ignores this time',
      {
        at: at.toISOString(),
      },
    );
    return null;
  }
  return {
    ...(acr === undefined ? {} : { acr }),
    ...(amr === undefined ? {} : { amr }),
    at: Math.min(time, now),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed();
}
