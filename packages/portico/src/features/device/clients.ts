import { isVerified } from '../../clients/who-asks.ts';
import { OAuthError } from '../../errors.ts';
import type { Profiles } from '../../profiles.ts';
import type { Client } from '../../store/client.ts';

/** The value of `grant_type` for device codes (RFC 8628 section 3.4). */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Returns why the client may not use the device grant, for the log, or null. The client must be
 * registered by an operator. No redirect URI shows the user where the access goes, so a client that
 * registered itself could deceive users with a false name.
 */
export function deviceProblem(client: Client, profiles: Profiles): string | null {
  if (client.revokedAt !== null) return 'the client was revoked';
  if (!client.grants.includes(DEVICE_GRANT))
    return `the client is registered for ${client.grants.join(', ')}, not for ${DEVICE_GRANT}`;
  if (!isVerified(client)) return 'no operator registered the client';
  if (profiles.of(client) !== null)
    return 'the security profile of the client does not allow device codes';
  return profiles.refusal(client);
}

/** Throws `unauthorized_client` if the client may not use the device grant. */
export function requireDeviceClient(client: Client, profiles: Profiles): void {
  const problem = deviceProblem(client, profiles);
  if (problem === null) return;
  throw new OAuthError(
    'unauthorized_client',
    'The client may not use the device code grant.',
    problem,
  );
}
