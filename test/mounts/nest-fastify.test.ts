// @engines sqlite, long: it installs Nest on Fastify, and builds with it
import { holdStack } from '../support/stacks.ts';

holdStack({
  name: 'Nest on Fastify',
  folder: 'nest-fastify',
  normalises: false,
  foreignForm: 403,
  parsesJson: false,
});
