// @engines sqlite: the store is the same in every mount
import { describe } from 'vitest';
import { MOUNTS } from '../support/mounts.ts';
import { waysOf } from '../support/scale.ts';
import { holdContract } from './contract.ts';

describe.each(waysOf(MOUNTS))('$name', (mount) => {
  holdContract(mount);
});
