import { type Route, token } from 'portico';

/** The route GET /api/whoami. It returns the person for whom the token acts. */
export const whoamiRoute: Route = {
  name: 'api.whoami',
  methods: ['GET'],
  path: '/api/whoami',
  handler() {
    token().requireUsable();
    const user = token().user();
    return Response.json(
      user === null
        ? { kind: 'application', name: null }
        : { kind: 'person', name: user.getProfile().name ?? null },
    );
  },
};
