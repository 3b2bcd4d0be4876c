// @engines sqlite, long: it installs Express, and compiles an application
import { holdStack } from '../support/stacks.ts';

holdStack({
  name: 'portico/express, in CommonJS',
  folder: 'express-commonjs',
  normalises: false,
  foreignForm: 403,
  parsesJson: true,
});
