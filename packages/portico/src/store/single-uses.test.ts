import { expect, test } from 'vitest';
import { SingleUses } from './single-uses.ts';
import type { Pruning } from './pruning.ts';
import type { SingleUseRecords } from './sql/single-uses.ts';

test('a single use is stored by the hash of its kind and value, without removing others', async () => {
  const kept = new Map<string, number>();
  const did: string[] = [];
  const uses = new SingleUses(
    {
      async claimSingleUse({ hash, expiresAt }) {
        if (kept.has(hash)) return false;
        kept.set(hash, expiresAt);
        did.push('kept');
        return true;
      },
    } satisfies Partial<SingleUseRecords> as unknown as SingleUseRecords,
    { tick: async () => void did.push('ticked') } as Partial<Pruning> as Pruning,
  );
  expect(await uses.claim('proof', ['client', 'jti'], 1000)).toBe(true);
  expect(await uses.claim('proof', ['client', 'jti'], 2000)).toBe(false);
  expect(did).toEqual(['kept', 'ticked']);
  // The same parts are a different value for another kind. The same text, split into other parts,
  // is also a different value.
  expect(await uses.claim('assertion', ['client', 'jti'], 3000)).toBe(true);
  expect(await uses.claim('proof', ['client', 'jtj'], 4000)).toBe(true);
  expect(await uses.claim('proof', ['clientj', 'ti'], 5000)).toBe(true);
  expect([...kept.values()]).toEqual([1000, 3000, 4000, 5000]);
  for (const hash of kept.keys()) expect(hash).toMatch(/^[\w-]{43}$/);
});
