import type { Server } from '../server.ts';
import type { CookieKeyRecords } from '../store/sql/cookie-keys.ts';
import { CookieSealer, Sealing } from './cookie-keys.ts';

/** Creates one process's sealer and `Sealing`. `lifetime` is in milliseconds. */
export function startSealing(store: CookieKeyRecords, clock: () => number, lifetime: number) {
  const sealer = new CookieSealer(store, clock, lifetime);
  const server = { sealer, clock, config: { consent_ttl: lifetime / 1000 } };
  return { sealer, sealing: new Sealing(server as unknown as Server) };
}
