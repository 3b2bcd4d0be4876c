import type { Acting } from '../auditing/audit.ts';
import type { AuthorizationServer } from '../authorization-server.ts';
import { DEFAULT_ALGORITHM } from '../keys/algorithms.ts';
import { KeyRotationError, KeysLostError } from '../keys/signing-key.ts';
import { howClientsCome, howToHaveClients } from './connecting-checks.ts';
import { examineLoginRoute } from './application-checks.ts';
import type { ExaminedApplication } from '../examination.ts';

/** The result of `oauth:server:setup`. */
export interface SetupReport {
  /**
   * The key that signs with RS256, or with an algorithm of the server's profile. `created`: this
   * call created it.
   */
  readonly signing_key: { readonly kid: string; readonly created: boolean };
  /** What the server still needs, and what the operator must do. Empty if the server is ready. */
  readonly missing: readonly string[];
}

/**
 * Creates the signing key if no key exists, and reports what else the server needs. You can call it
 * any number of times.
 *
 * Throws a KeyRotationError if applications have received ID tokens but no key exists. The key was
 * lost, and a new one would hide the loss. Rejects if no key exists and the store does not respond.
 *
 * @example
 * const { missing } = await setUpServer(application, server, { by: 'console' });
 */
export async function setUpServer(
  application: ExaminedApplication,
  server: AuthorizationServer,
  acting: Acting = {},
): Promise<SetupReport> {
  const usable = server.profiles.servers?.idTokenAlgorithms ?? ([DEFAULT_ALGORITHM] as const);
  const all = await server.keys.all();
  const existing = all.find(({ algorithm }) => usable.some((each) => each === algorithm));
  if (all.length === 0 && (await hasLostKeys(server))) throw new KeyRotationError(lostKeys(server));
  const key = existing ?? (await server.keys.generate(usable[0], acting));
  const loginRoute = examineLoginRoute({ application, server });
  return {
    signing_key: { kid: key.kid, created: existing === undefined },
    missing: [
      ...(loginRoute.outcome === 'failing' ? [`${loginRoute.detail}; ${loginRoute.remedy}`] : []),
      ...(await missingClients(server)),
    ],
  };
}

async function missingClients(server: AuthorizationServer): Promise<readonly string[]> {
  const { clients, host } = server;
  try {
    if (
      (await clients.page({ limit: 1 })).items.length > 0 ||
      (await howClientsCome(server)) !== null
    )
      return [];
    return [`no client is registered; ${howToHaveClients(server)}`];
  } catch (error) {
    host.log.warning('The schema cannot be read: {exception}', { exception: error });
    return [
      'the database schema cannot be read; run npx portico db:migrate up (for details, see the ' +
        'log)',
    ];
  }
}

/**
 * Returns true if the signing keys were lost: no key exists, but the store contains authorizations
 * with the scope `openid`. Rejects if no key exists and the store does not respond.
 */
export async function hasLostKeys({ keys }: AuthorizationServer): Promise<boolean> {
  try {
    await keys.published();
    return false;
  } catch (error) {
    if (error instanceof KeysLostError) return true;
    throw error;
  }
}

const lostKeys = ({ config }: AuthorizationServer) =>
  `There is no signing key in ${config.key_path}, but the server issued ID tokens before, so it ` +
  'had a key. Restore the directory of that key, or set oauth_server:key_path (STORAGE_DIR) to ' +
  'that directory. Run npx portico oauth:keys:generate only if the key is lost';
