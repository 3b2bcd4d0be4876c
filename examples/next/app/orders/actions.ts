'use server';

import { headers } from 'next/headers';
import { token } from 'portico';
import { withToken } from '../../lib/portico';

export async function listOrders() {
  return withToken(await headers(), () => {
    token().requireScope('orders:read');
    return { orders: [], of: token().user()?.getProfile().name ?? null };
  });
}
