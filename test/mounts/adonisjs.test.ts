// @engines sqlite, needs npm: it installs AdonisJS, and builds with it
import { holdStack } from '../support/stacks.ts';

holdStack({
  name: 'AdonisJS',
  folder: 'adonisjs',
  normalises: false,
  parsesJson: false,
  foreignForm: 302,
  hashed: /^\$argon2id\$/,
});
