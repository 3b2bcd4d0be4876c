import { describe } from 'vitest';
import { MOUNTS } from '../support/mounts.ts';
import { holdContract } from './contract.ts';

describe.each(MOUNTS)('$name', (mount) => {
  holdContract(mount);
});
