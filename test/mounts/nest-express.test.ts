// @engines sqlite, long: it installs Nest on Express, and builds with it
import { holdStack } from '../support/stacks.ts';

holdStack({
  name: 'Nest on Express',
  folder: 'nest-express',
  hashed: /^\$argon2id\$/,
  normalises: false,
  foreignForm: 403,
  parsesJson: true,
});
