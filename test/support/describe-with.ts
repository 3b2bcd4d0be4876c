import { describe } from 'vitest';
import type { ExtraName } from './extras.ts';
import { RUNS_ALL } from './scale.ts';

/** Like `describe`, but for tests that need these extras. `npm test` skips them. */
export function describeWith(..._needs: readonly [ExtraName, ...ExtraName[]]): typeof describe {
  return (RUNS_ALL ? describe : describe.skip) as typeof describe;
}
