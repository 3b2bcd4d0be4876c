import { defineApplication, ErrorHandler, Event, HttpError } from '@portico/kit';
import { productRoutes } from './controller.ts';
import { openapi } from './openapi.ts';
import { fixedProducts } from './products.ts';

/** A public catalog that is read-only. It has no accounts, sessions or database. */
export default defineApplication({
  directory: import.meta.dirname,
  config: (env) => ({ public_url: env['PUBLIC_URL'] ?? `http://localhost:${env['PORT'] ?? 8083}` }),
  register(application) {
    const { events, log } = application;
    for (const route of productRoutes(fixedProducts)) application.route(route);
    application.route({
      name: 'openapi',
      methods: ['GET'],
      path: '/openapi.json',
      handler: () => Response.json(openapi(application.publicUrl)),
    });

    events.on(Event.EXCEPTION, (exception: unknown) => {
      const status = ErrorHandler.resolveStatusCode(exception);
      if (status >= 500) log.error('The catalog failed: {exception}', { exception });
      const error = status < 500 ? 'Request refused' : 'Internal server error';
      const headers = exception instanceof HttpError ? exception.headers : {};
      return Response.json({ error }, { status, headers });
    });
    events.on(Event.RESPONSE_HEADER, (response: Response) => {
      response.headers.set('X-Content-Type-Options', 'nosniff');
      return response;
    });
  },
});
