// @engines sqlite: it reads the published files
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  commentBefore,
  exportsOf,
  membersOf,
  moduleOf,
  publishedEntries,
} from '../tools/scripts/public-names.ts';
import { ROOT } from './support/console.ts';

const ENTRIES = publishedEntries(ROOT);

describe('every public name has a doc comment', () => {
  // @shows HOST-5.1
  test.each(ENTRIES)('%s', (entry, file) => {
    const offered = exportsOf(moduleOf(file));
    expect(offered.length).toBeGreaterThan(0);
    const bare = offered.flatMap(({ name, module, start, declaration }) => [
      ...(commentBefore(module, start) === null ? [name] : []),
      // Authors of extensions also read the sources.
      ...(entry === 'portico/extension' ? [] : membersOf(declaration))
        .filter((member) => commentBefore(module, member.start) === null)
        .map((member) => `${name}.${member.name}`),
    ]);
    const files = new Map(
      offered.map(({ name, module }) => [name, path.relative(ROOT, module.file)]),
    );
    expect(bare.map((name) => `${name} (${files.get(name.split('.')[0] ?? '')})`)).toEqual([]);
  });
});
