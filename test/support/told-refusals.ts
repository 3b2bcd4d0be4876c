import { inspect } from 'node:util';
import type { Refusal, RefusalReason } from '@portico/resource-server';
import { expect } from 'vitest';

/** Checks what an API in another process learns about its refusals. */

/**
 * The reasons that only bound tokens can cause, or an API that accepts them.
 * `resource-server-dpop.test.ts` tests these.
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

/** Checks that the refusals contain none of these secrets, not even in hidden fields. */
export function expectNothingOf(told: readonly Refusal[], secrets: readonly string[]): void {
  const whole = inspect(told, { depth: null, showHidden: true, maxStringLength: null });
  for (const secret of secrets) expect(whole).not.toContain(secret);
}
