import { ErrorHandler, Event, HttpError, type Application } from '@portico/kit';
import { databaseArticles } from './articles.ts';
import { articleRoutes, type Guard } from './controller.ts';
import { openapi } from './openapi.ts';

/**
 * Adds what both variants of the example have in common: the routes, their description, and the
 * responses for exceptions.
 */
export function addArticles(application: Application, guarded?: Guard): void {
  const { database, events, log } = application;
  for (const route of articleRoutes(databaseArticles(database), guarded)) application.route(route);
  application.route({
    name: 'openapi',
    methods: ['GET'],
    path: '/openapi.json',
    handler: () => Response.json(openapi(application.publicUrl)),
  });

  events.on(Event.EXCEPTION, (exception: unknown) => {
    const status = database.isUnavailable(exception)
      ? 503
      : ErrorHandler.resolveStatusCode(exception);
    log.error('The article store answered {status}: {exception}', { status, exception });
    const error = status < 500 ? 'Request refused' : 'Internal server error';
    const headers = exception instanceof HttpError ? exception.headers : {};
    return Response.json({ error }, { status, headers });
  });
}
