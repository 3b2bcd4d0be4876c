import type { Importing } from './contract.ts';

/** The same, created on first use, so that a serving application does not load it. */
export function importingWith(load: () => Promise<Importing>): Importing {
  return {
    clients: async (...given) => (await load()).clients(...given),
    subjects: async (...given) => (await load()).subjects(...given),
  };
}
