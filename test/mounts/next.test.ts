// @engines sqlite, long: it installs Next, and builds with it
import { holdStack } from '../support/stacks.ts';

holdStack({
  name: 'Next',
  folder: 'next',
  hashed: /^\$argon2id\$/,
  normalises: true,
  foreignForm: 403,
  formPath: '/login/submit',
  parsesJson: false,
});
