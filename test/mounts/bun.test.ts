// @engines sqlite, long: it installs Bun, and runs on it
import { holdStack } from '../support/stacks.ts';

holdStack({
  name: 'Bun',
  folder: 'bun',
  normalises: true,
  foreignForm: 403,
  parsesJson: false,
  hashed: /^\$argon2id\$/,
});
