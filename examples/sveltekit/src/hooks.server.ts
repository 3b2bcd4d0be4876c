import type { Handle } from '@sveltejs/kit/hooks';
import { building } from '$app/env';
import { portico } from './lib/server/portico.ts';
import { userOfSession } from './lib/server/users.ts';

const FORMS = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/i;

/** Makes the check that SvelteKit makes unless it trusts all origins. */
function isForeignForm(request: Request, origin: string): boolean {
  const type = request.headers.get('content-type');
  return (
    ['POST', 'PUT', 'PATCH', 'DELETE'].includes(request.method) &&
    (type === null || FORMS.test(type)) &&
    request.headers.get('origin') !== origin
  );
}

export const handle: Handle = async ({ event, resolve }) => {
  if (building) return resolve(event); // SvelteKit is prerendering a page
  event.locals.user = userOfSession(event.cookies.get('session'));
  const { server, endpoints } = await portico();
  const answer = await endpoints(event.request, event);
  if (answer !== null) return answer;
  if (isForeignForm(event.request, server.origin))
    return new Response(`Cross-site ${event.request.method} form submissions are forbidden`, {
      status: 403,
    });
  return resolve(event);
};
