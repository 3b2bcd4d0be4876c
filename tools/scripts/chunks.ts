import path from 'node:path';
import type { CodeSplittingGroup, ModuleInfo } from 'rolldown';

type Look = (id: string) => ModuleInfo | null;

/**
 * Which modules of `portico` go into one file although some of them are also asked for without the
 * others: what every start loads together, since Node spends more on a file than on what is in it.
 */
export function startGroups(source: string): CodeSplittingGroup[] {
  const [server, extension] = [path.join(source, 'index.ts'), path.join(source, 'extension.ts')];
  // A bundler leaves the console out of an application only if what loads it is in a separate file.
  const alone = path.join(source, 'console', 'program', 'run-console.ts');
  const reached = new Map<string, ReadonlySet<string>>();
  const isOf = (from: string, id: string, look: Look) => {
    const found = reached.get(from) ?? reachedFrom(from, look);
    reached.set(from, found);
    return id !== from && id !== alone && found.has(id);
  };
  const group = (
    name: string,
    priority: number,
    ...entries: readonly string[]
  ): CodeSplittingGroup => ({
    name: (id, context) => {
      const look: Look = (each) => context.getModuleInfo(each);
      return entries.every((each) => isOf(each, id, look)) ? name : null;
    },
    debugName: name,
    priority,
  });
  return [group('foundation', 2, extension, server), group('server', 1, server)];
}

/** All that is loaded with an entry, itself included; not what it imports when it is needed. */
function reachedFrom(entry: string, look: Look): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const id of found) for (const imported of look(id)?.importedIds ?? []) found.add(imported);
  return found;
}
