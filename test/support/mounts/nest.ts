import type { Mount } from './application.ts';

/**
 * The Nest mounts for the soak tests. The applications in `examples/nest-*` run the contract. Each
 * mount loads only its own platform, because both platforms together would fill most of a small
 * heap.
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
