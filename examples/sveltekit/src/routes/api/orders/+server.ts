import { portico } from '../../../lib/server/portico.ts';
import { token } from 'portico';

export async function GET({ request }) {
  const { server } = await portico();
  return server.withToken(request, async () => {
    token().requireScope('orders:read');
    return Response.json({ orders: [], of: token().user()?.getProfile().name ?? null });
  });
}
