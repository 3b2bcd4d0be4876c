// @engines sqlite: the database makes no difference
import { describe } from 'vitest';
import { MOUNTS } from '../support/mounts.ts';
import { waysOf } from '../support/scale.ts';
import { holdContract } from './contract.ts';

describe.each(waysOf(MOUNTS))('$name', (mount) => {
  holdContract(mount);
});
