import type { LoaderFunctionArgs } from 'react-router';
import { portico } from '../portico.server.ts';

async function answer({ request, context }: LoaderFunctionArgs): Promise<Response> {
  const { handle } = await portico();
  return (await handle(request, context)) ?? new Response('Not found', { status: 404 });
}

export { answer as loader, answer as action };
