import path from 'node:path';
import type { CodeSplittingGroup, ModuleInfo } from 'rolldown';

type Look = (id: string) => ModuleInfo | null;

/**
 * Chooses the modules of `portico` that go into one file: those that every start loads together.
 * Some of them are also loaded without the others, but opening a file takes Node longer than
 * reading its content.
 */
export function startGroups(source: string): CodeSplittingGroup[] {
  const [server, extension] = [path.join(source, 'index.ts'), path.join(source, 'extension.ts')];
  // Keep this module in a separate file, so that a bundler can leave the console out of an
  // application.
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

/**
 * Returns all modules that are loaded together with an entry, including the entry. Leaves out
 * dynamic imports.
 */
function reachedFrom(entry: string, look: Look): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const id of found) for (const imported of look(id)?.importedIds ?? []) found.add(imported);
  return found;
}
