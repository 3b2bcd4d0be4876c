import type { Branding } from '../defaults/branding/branding.ts';
import { requestIdOf, withRequestId } from '../http/request-id.ts';
import type { Endpoint } from './endpoint.ts';
import type { Mounting } from '../paths.ts';

/** The application's own logos; they read no session and no store. */
export function createBrandingEndpoints(
  branding: Branding | null,
  { mountPath }: Mounting,
): readonly Endpoint[] {
  return (branding?.logos ?? []).map(({ name, path, respond }) => ({
    name,
    path: `${mountPath}${path}`,
    methods: ['GET'],
    handle: async (request) => withRequestId(respond(request), requestIdOf(request)),
  }));
}
