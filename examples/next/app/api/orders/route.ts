import { token } from 'portico';
import { withToken } from '../../../lib/portico';

export function GET(request: Request) {
  return withToken(request, async () => {
    token().requireScope('orders:read');
    return Response.json({ orders: [], of: token().user()?.getProfile().name ?? null });
  });
}
