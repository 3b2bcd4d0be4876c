import { defineFeature } from '../../feature.ts';
import { getRequestId, withRequestId } from '../../http/request-id.ts';
import { getBranding } from './branding.ts';
import { brandingShape } from './config.ts';

/** Shows the application's logo and accent color on the pages. */
export const branding = defineFeature({
  name: 'branding',
  config: brandingShape,
  applicationConfig: brandingShape,
  branding: ({ branding: ofServer }, place) => getBranding(ofServer, place),
  start: (server) => ({
    plainEndpoints: (server.branding?.logos ?? []).map(({ name, path, respond }) => ({
      name,
      path: `${server.mountPath}${path}`,
      methods: ['GET'],
      handle: async (request) => withRequestId(respond(request), getRequestId(request)),
    })),
  }),
});
