import { defineFeature } from '../../feature.ts';
import { documentReply, publicDocument } from '../../endpoints/replies/documents.ts';
import { openapiShape } from './config.ts';

/** How long caches may keep the document, in seconds. */
const MAX_AGE = 60;

/** Publishes an OpenAPI 3.1 description of the endpoints. */
export const openapi = defineFeature({
  name: 'openapi',
  config: openapiShape,
  endpoints: [
    {
      name: 'oauth_server_openapi',
      path: '/oauth/openapi.json',
      methods: ['GET'],
      anyOrigin: true,
      operations: async () => (await import('./own-operations.ts')).openapiOperations,
    },
  ],
  start(_, { openapi: isOn = false }) {
    if (!isOn) return {};
    return {
      handlers: ({ server }) => {
        const load = async () => {
          const { openApiDocument } = await import('./document.ts');
          return publicDocument(await openApiDocument(server()), MAX_AGE);
        };
        let loaded: Awaited<ReturnType<typeof load>> | undefined;
        return {
          oauth_server_openapi: async (request) =>
            documentReply(request, (loaded ??= await load())),
        };
      },
    };
  },
});
