import type { Mount } from './application.ts';

/**
 * For the soaks; `examples/nest-*` are applications of their own, which the contract is held against. Each loads its own platform
 * alone: both fill most of a small heap.
 */
export const NEST: readonly Mount[] = [
  {
    name: 'Nest on Express',
    normalises: false,
    parsesJson: true,
    start: async (...given) => (await import('./nest-express.ts')).start(...given),
  },
  {
    name: 'Nest on Fastify',
    normalises: false,
    parsesJson: false,
    start: async (...given) => (await import('./nest-fastify.ts')).start(...given),
  },
];
