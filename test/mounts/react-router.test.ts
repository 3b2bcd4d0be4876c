// @engines sqlite, long: it installs React Router, and builds with it
import { holdStack } from '../support/stacks.ts';

holdStack({
  name: 'React Router',
  folder: 'react-router',
  normalises: true,
  parsesJson: false,
  foreignForm: 400,
  hashed: /^\$argon2id\$/,
});
