import { inspect } from 'node:util';
import type { Refusal, RefusalReason } from '@portico/resource-server';
import { expect } from 'vitest';

/** What an API elsewhere is told of what it refuses. */

/** The reasons that only a request with a bound token, or an API that takes them, can have: `resource-server-dpop.test.ts` has these. */
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

/** All of it, hidden fields too, has none of these. */
export function expectNothingOf(told: readonly Refusal[], secrets: readonly string[]): void {
  const whole = inspect(told, { depth: null, showHidden: true, maxStringLength: null });
  for (const secret of secrets) expect(whole).not.toContain(secret);
}
