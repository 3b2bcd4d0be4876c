import { expect, test } from 'vitest';
import type { Log } from '../../contracts/log.ts';
import { createPruning } from './pruning.ts';

test('others have their turn after each batch but the last of a kind, and everything is counted', async () => {
  const did: string[] = [];
  const nothing = () => {};
  const log: Log = { debug: nothing, info: nothing, warning: nothing, error: nothing };
  /** How many of a kind are left. */
  const left = { families: 250, uses: 150, clients: 101, tokens: 100, events: 700 };
  const take = (kind: keyof typeof left, limit: number) => {
    const taken = Math.min(left[kind], limit);
    left[kind] -= taken;
    did.push(kind);
    return taken;
  };
  const pruning = createPruning({
    store: {
      async prune(_, limit) {
        const families = take('families', limit);
        return { families, consentRequests: 0, more: left.families > 0 };
      },
      pruneSingleUses: async (_, limit) => take('uses', limit),
      async pruneRegistrations(_, limit) {
        return { clients: take('clients', limit), more: left.clients > 0 };
      },
      async pruneAccessTokens(_, __, limit) {
        return { removed: take('tokens', limit), last: left.tokens > 0 ? 'the last' : null };
      },
    },
    registrations: true,
    singleUses: true,
    removeOldEvents: async (limit) => take('events', limit),
    clock: () => 0,
    log,
    async pause(took) {
      expect(took).toBeGreaterThanOrEqual(0);
      did.push('pause');
    },
  });
  expect(await pruning.all()).toEqual({
    families: 250,
    consentRequests: 0,
    clients: 101,
    accessTokens: 100,
    auditEvents: 700,
  });
  const separated = (kind: string, times: number) =>
    Array.from({ length: times }, () => kind).join(' pause ');
  expect(did.join(' ')).toBe(
    [
      separated('families', 3),
      separated('uses', 3),
      separated('clients', 2),
      'tokens',
      separated('events', 2),
    ].join(' '),
  );
});
