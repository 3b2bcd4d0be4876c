import { token } from 'portico';
import { portico } from '../portico.server.ts';
import type { Route } from './+types/orders';

export async function loader({ request }: Route.LoaderArgs) {
  const { server } = await portico();
  return server.withToken(request, async () => {
    token().requireScope('orders:read');
    return Response.json({ orders: [], of: token().user()?.getProfile().name ?? null });
  });
}
