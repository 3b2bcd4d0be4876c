import type { Importing } from './contract.ts';

/** The same, made when it is first asked for: an application that serves loads nothing of it. */
export function importingWith(load: () => Promise<Importing>): Importing {
  return {
    clients: async (...given) => (await load()).clients(...given),
    subjects: async (...given) => (await load()).subjects(...given),
  };
}
