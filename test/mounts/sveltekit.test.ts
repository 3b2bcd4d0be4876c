// @engines sqlite, long: it installs SvelteKit and builds with it
import { holdStack } from '../support/stacks.ts';

holdStack({
  name: 'SvelteKit',
  folder: 'sveltekit',
  startsOnRequest: true,
  normalises: true,
  parsesJson: false,
  foreignForm: 403,
  hashed: /^\$argon2id\$/,
});
