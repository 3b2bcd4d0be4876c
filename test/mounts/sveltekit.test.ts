// @engines sqlite, long: it installs SvelteKit, and builds with it
import { holdStack } from '../support/stacks.ts';

holdStack({
  name: 'SvelteKit',
  folder: 'sveltekit',
  normalises: true,
  parsesJson: false,
  foreignForm: 403,
  hashed: /^\$argon2id\$/,
});
