import { expect, test } from 'vitest';
import { argon2idHasher } from './password-hasher.ts';
import { RequestContext, runWithContext } from './request-context.ts';

test('the hasher of the kit lets networks take turns, however much one of them sends', async () => {
  const hasher = argon2idHasher({ memory: 64, atOnce: 1 });
  const ended: string[] = [];
  const hashFrom = (address: string) => {
    const context = new RequestContext(null, new Request('https://app.example'), () => address);
    return runWithContext(context, async () => {
      await hasher.hash('secret');
      ended.push(address);
    });
  };
  const addresses = [...Array.from({ length: 9 }, () => '192.0.2.1'), '198.51.100.1'];
  await Promise.all(addresses.map(hashFrom));
  expect(ended).toHaveLength(10);
  expect(ended.slice(0, 3)).toContain('198.51.100.1');
});
