/**
 * Draws docs/diagrams/*.svg from the texts of the same names. With --check, it reports drawings
 * that differ from their text or from the schema.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sequence } from './diagrams/sequence.ts';
import { parse } from './diagrams/source.ts';
import { tables } from './diagrams/tables.ts';
import { timeline } from './diagrams/timeline.ts';

const folder = path.join(import.meta.dirname, '..', '..', 'docs', 'diagrams');
const KINDS = { sequence, timeline, tables } as const;
const isKind = (kind: string): kind is keyof typeof KINDS => Object.hasOwn(KINDS, kind);

const isCheck = process.argv.includes('--check');
for (const file of globSync('*.txt', { cwd: folder }).toSorted()) {
  const name = path.basename(file, '.txt');
  const source = parse(file, readFileSync(path.join(folder, file), 'utf8'));
  if (!isKind(source.kind)) throw new Error(`${file}: there is no kind '${source.kind}'`);
  const drawn = await KINDS[source.kind](name, source);
  const target = path.join(folder, `${name}.svg`);
  if (!isCheck) writeFileSync(target, drawn);
  else if (!existsSync(target) || readFileSync(target, 'utf8') !== drawn) {
    process.stderr.write(`docs/diagrams/${name}.svg is out of date: npm run diagrams\n`);
    process.exitCode = 1;
  }
}
