import { ok, warning, type Finding } from '@portico/sql';
import { hasUsable, type InitialAccessTokens } from '../../clients/initial-access-tokens.ts';
import { clientPages, listPage } from '../../clients/listing.ts';
import type { Server } from '../../server.ts';

/** The command that creates an initial access token. */
export const NEW_TOKEN = 'npx portico oauth:initial-access-token:create';

/** Reports how many clients have registered themselves, and whether more can register. */
export async function examineRegistration(
  { store, clock }: Server,
  tokens: InitialAccessTokens,
  mode: 'open' | 'initial_access_token',
): Promise<readonly Finding[]> {
  let [living, unused] = [0, 0];
  for await (const { items } of clientPages({ page: (page) => listPage(store.clients, page) })) {
    const registered = items.filter(
      ({ registeredBy, revokedAt }) => registeredBy === 'registration' && revokedAt === null,
    );
    living += registered.length;
    unused += registered.filter(({ usedAt }) => usedAt === null).length;
  }
  const found = `clients that registered themselves: ${living} (never used: ${unused})`;
  if (mode === 'open') return [ok(`any client can register; ${found}`)];
  if (await hasUsable(tokens, clock()))
    return [ok(`clients can register with an initial access token; ${found}`)];
  return [
    warning(
      `no client can register, because there is no valid initial access token; ${found}`,
      `run ${NEW_TOKEN}`,
    ),
  ];
}
