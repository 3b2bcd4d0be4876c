import type { Endpoint } from '../../endpoints/endpoint.ts';
import { getRequestId } from '../../http/request-id.ts';
import {
  jsonReply,
  toResponse,
  withRequestIdField,
  type Reply,
} from '../../endpoints/replies/responses.ts';
import type { Health } from './health.ts';
import type { HealthPaths } from './paths.ts';

export const READY = 'oauth_server_ready';

const NO_STORE = { 'Cache-Control': 'no-store' } as const;

/** The endpoints read neither a session nor cookies. */
export function healthEndpoints(health: Health, paths: HealthPaths): readonly Endpoint[] {
  /** Checks nothing: any response shows that the process runs. */
  const live = async () => jsonReply({ status: 'live' }, 200, NO_STORE);
  /**
   * Responds with 200 if the process can receive requests, and with 503 otherwise. The body
   * contains the states of the store, the schema and the key.
   */
  async function ready(): Promise<Reply> {
    const found = await health.readiness();
    return jsonReply(found, found.status === 'ready' ? 200 : 503, NO_STORE);
  }
  return [
    ...endpoint(
      'oauth_server_live',
      paths.live,
      live,
      async () => (await import('./operations.ts')).liveOperations,
    ),
    ...endpoint(
      READY,
      paths.ready,
      ready,
      async () => (await import('./operations.ts')).readyOperations,
    ),
  ];
}

function endpoint(
  name: string,
  path: string | null,
  reply: () => Promise<Reply>,
  operations: NonNullable<Endpoint['operations']>,
): readonly Endpoint[] {
  if (path === null) return [];
  const handle = async (request: Request) =>
    toResponse(withRequestIdField(await reply(), getRequestId(request)));
  return [{ name, path, methods: ['GET'], operations, handle }];
}
