import { expect, test } from 'vitest';
import type { Client } from './client.ts';
import { hasExpired } from './client-expiry.ts';

const NOW = 1_795_240_016_123;
const DAY = 86_400_000;
const client = (changes: Partial<Client>) =>
  ({ registeredBy: 'registration', usedAt: null, createdAt: NOW, ...changes }) as Client;

test('a self-registered client expires a day after its creation if unused, else 91 days after use', () => {
  expect(hasExpired(client({ createdAt: NOW - DAY + 1 }), NOW)).toBe(false);
  expect(hasExpired(client({ createdAt: NOW - DAY }), NOW)).toBe(true);
  const used = { createdAt: NOW - 1000 * DAY };
  expect(hasExpired(client({ ...used, usedAt: NOW - 91 * DAY + 1 }), NOW)).toBe(false);
  expect(hasExpired(client({ ...used, usedAt: NOW - 91 * DAY }), NOW)).toBe(true);
});

test('a client of an operator, or with a document, never expires', () => {
  for (const registeredBy of ['operator', 'document'] as const) {
    expect(hasExpired(client({ registeredBy, createdAt: 0 }), NOW)).toBe(false);
    expect(hasExpired(client({ registeredBy, createdAt: 0, usedAt: 0 }), NOW)).toBe(false);
  }
});
