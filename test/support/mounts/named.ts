import type { Mount } from './application.ts';

/**
 * A mount by its name: one of MOUNTS, or of those that the soak tests add. The frameworks of the
 * others are not loaded: they would fill a small heap.
 */
export async function mountNamed(name: string): Promise<Mount> {
  const found = (await mountsWith(name)).find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no mount ${name}`);
  return found;
}

async function mountsWith(name: string): Promise<readonly Mount[]> {
  if (name.startsWith('Nest')) return (await import('./nest.ts')).NEST;
  if (name.startsWith('Next')) return [(await import('./next.ts')).NEXT];
  return (await import('../mounts.ts')).MOUNTS;
}
