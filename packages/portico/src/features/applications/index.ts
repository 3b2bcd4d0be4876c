import { defineFeature } from '../../feature.ts';
import { ApplicationsPage } from './page.ts';

const PATH = '/oauth/applications';

/** Adds the page where users see which applications have access, and can revoke that access. */
export const applications = defineFeature({
  name: 'applications',
  endpoints: [
    {
      name: 'oauth_server_applications',
      path: PATH,
      methods: ['GET'],
      forPeople: true,
      operations: async () => (await import('./operations.ts')).applicationsOperations,
    },
    {
      name: 'oauth_server_remove_application',
      path: PATH,
      methods: ['POST'],
      forPeople: true,
      operations: async () => (await import('./operations.ts')).removeApplicationOperations,
    },
  ],
  start(server) {
    const path = `${server.basePath}${PATH}`;
    return {
      accessPath: path,
      handlers: ({ logos }) => {
        const page = new ApplicationsPage(server, path, logos?.path ?? null);
        return {
          oauth_server_applications: (request) => page.list(request),
          oauth_server_remove_application: (request) => page.remove(request),
        };
      },
    };
  },
});
