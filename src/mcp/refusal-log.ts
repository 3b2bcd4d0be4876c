import type { Log } from '../contracts/log.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { AuthorizationServer } from '../oauth-server/index.ts';
import { refusalMessage } from './refusal.ts';

/** What a line of the log is written with. */
export interface RefusalLog {
  readonly server: AuthorizationServer;
  readonly log: Log;
}

/** One line in the log for a refusal by an endpoint, in the form that the authorization server uses. */
export function logRefusal(
  { log, server }: RefusalLog,
  endpoint: string,
  request: Request,
  response: Response,
  clientId: string | null,
): void {
  const detail = refusalMessage(response);
  // 499: the caller hung up and gets no answer.
  if (detail === null || response.status === 499) return;
  server.measuring?.refusedWith(endpoint, response.status);
  log.info('{endpoint} refused: {error} ({detail})', {
    endpoint,
    requestId: requestIdOf(request),
    error: response.status,
    detail,
    clientId,
    address: clientAddress(server, request),
  });
}

/** A host that fails here must not turn a refusal into an error. */
function clientAddress({ host }: AuthorizationServer, request: Request): string | null {
  try {
    return host.clientAddress(request);
  } catch {
    return null;
  }
}
