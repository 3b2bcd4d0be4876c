import type { AuthorizationServer } from '../authorization-server.ts';
import { DEFAULT_ALGORITHM } from '../keys.ts';
import { examineLoginRoute } from './application-checks.ts';
import type { ExaminedApplication } from './subject.ts';

/** What `oauth:server:setup` did and found. */
export interface SetupReport {
  /** The key that signs with RS256, and whether this run made it. */
  readonly signing_key: { readonly kid: string; readonly created: boolean };
  /** What is still missing, each with what to do; empty when the server is ready. */
  readonly missing: readonly string[];
}

/** Creates the signing key if none exists, and reports what else the server needs. Safe to run again. */
export async function setUpServer(
  application: Pick<ExaminedApplication, 'hasRoute'>,
  server: AuthorizationServer,
): Promise<SetupReport> {
  const existing = (await server.keys.all()).find(({ algorithm }) => algorithm === DEFAULT_ALGORITHM);
  const key = existing ?? (await server.keys.generate());
  const loginRoute = examineLoginRoute({ application, server });
  return {
    signing_key: { kid: key.kid, created: existing === undefined },
    missing: [
      ...(loginRoute.outcome === 'failing' ? [`${loginRoute.detail}; ${loginRoute.remedy}`] : []),
      ...(await missingClients(server)),
    ],
  };
}

async function missingClients({ clients, host }: AuthorizationServer): Promise<readonly string[]> {
  try {
    if ((await clients.list()).length > 0) return [];
    return ["no client is registered; run oauth:client:create '<name>' --redirect=<uri> --scope=<scope>"];
  } catch (error) {
    host.log.warning('The schema cannot be read: {exception}', { exception: error });
    return ['the schema cannot be read; run db:migrate up (details are in the log)'];
  }
}
