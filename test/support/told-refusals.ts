import { inspect } from 'node:util';
import type { Refusal, RefusalReason } from '@portico/resource-server';
import { expect } from 'vitest';

/** What an API elsewhere learns about its refusals. */

/**
 * The reasons that only a bound token, or an API that accepts them, can cause:
 * `resource-server-dpop.test.ts` has these.
 */
export type BoundReason = Extract<
  RefusalReason,
  | `proof${string}`
  | 'bound_as_bearer'
  | 'unbound_as_dpop'
  | 'unbound'
  | 'no_request'
  | 'claim_failed'
  | 'fault'
>;

/** All of it, including hidden fields, has none of these. */
export function expectNothingOf(told: readonly Refusal[], secrets: readonly string[]): void {
  const whole = inspect(told, { depth: null, showHidden: true, maxStringLength: null });
  for (const secret of secrets) expect(whole).not.toContain(secret);
}
