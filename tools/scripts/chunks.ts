import path from 'node:path';
import type { CodeSplittingGroup, ModuleInfo } from 'rolldown';

type Look = (id: string) => ModuleInfo | null;

/**
 * Which modules go into one file although some of them are also asked for without the others: what every start loads together, since
 * Node spends more on a file than on what is in it. What an API elsewhere, or the kit, loads without the server stays apart from it.
 */
export function startGroups(root: string): CodeSplittingGroup[] {
  const entry = (name: string) => path.join(root, 'src', name, 'index.ts');
  const [api, kit, server] = [entry('resource-server'), entry('host'), entry('oauth-server')];
  const reached = new Map<string, ReadonlySet<string>>();
  const isOf = (from: string, id: string, look: Look) => {
    const found = reached.get(from) ?? reachedFrom(from, look);
    reached.set(from, found);
    return id !== from && found.has(id);
  };
  const group = (name: string, priority: number, ...entries: readonly string[]): CodeSplittingGroup => ({
    name: (id, context) => {
      const look: Look = (each) => context.getModuleInfo(each);
      return entries.every((each) => isOf(each, id, look)) ? name : null;
    },
    debugName: name,
    priority,
  });
  return [
    group('protected-resource', 3, api, server),
    group('foundation', 2, kit, server),
    group('oauth-server', 1, server),
  ];
}

/** All that is loaded with an entry, itself included; not what it imports when it is needed. */
function reachedFrom(entry: string, look: Look): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const id of found) for (const imported of look(id)?.importedIds ?? []) found.add(imported);
  return found;
}
