import type { Mount } from './application.ts';

/**
 * Returns a mount by its name: a mount of MOUNTS, or one that the soak tests add. Loads no
 * frameworks of other mounts, because they would fill a small heap.
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
