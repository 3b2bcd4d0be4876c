import type { Mount } from './application.ts';

/**
 * For the soak tests; `examples/nest-*` are separate applications, which run the contract. Each
 * loads only its own platform: both fill most of a small heap.
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
