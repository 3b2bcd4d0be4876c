// @engines sqlite: it only reads files
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { sequence } from '../tools/scripts/diagrams/sequence.ts';
import { parse } from '../tools/scripts/diagrams/source.ts';
import { tables } from '../tools/scripts/diagrams/tables.ts';
import { ROOT } from './support/console.ts';

const PICTURES = globSync('docs/diagrams/*.svg', { cwd: ROOT }).toSorted();
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const head = 'kind: sequence\ntitle: A\ndescription: B\n';

describe('the diagrams of the documentation', () => {
  test.each(PICTURES)('are drawn from a text, have a description, and load nothing: %s', (file) => {
    const drawn = read(file);
    const source = parse(file, read(file.replace('.svg', '.txt')));
    expect(drawn).toContain(`>${source.title}</title>`);
    expect(source.description.length).toBeGreaterThan(60);
    expect(drawn).toContain('prefers-color-scheme: dark');
    expect(drawn).not.toMatch(/<script|<image|href=|url\(/);
    expect(drawn.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//);
  });

  test('are each shown on a page, with alternative text', () => {
    const pages = globSync(['*.md', 'docs/*.md'], { cwd: ROOT }).map(read).join('\n');
    for (const file of PICTURES)
      expect(pages, file).toMatch(
        new RegExp(String.raw`!\[[^\]]{20,}\]\((?:docs/)?diagrams/${path.basename(file)}\)`),
      );
  });

  test('are refused if a text does not fit or contains an unknown name', () => {
    const draw = (lines: string) => () =>
      sequence('x', parse('x', `${head}lane a: A\nlane b: B\n${lines}`));
    expect(draw('a -> b: hello')).not.toThrow();
    expect(draw(`a -> b: ${'long '.repeat(20)}`)).toThrow('needs');
    expect(draw('a -> c: hello')).toThrow("no lane 'c'");
    expect(draw('a => b: hello')).toThrow('what is');
  });

  test('show markup in a text literally', () => {
    const drawn = sequence('x', parse('x', `${head}lane a: A\nlane b: <b>&\na -> b: "1"`));
    expect(drawn).toContain('&lt;b&gt;&amp;');
    expect(drawn).toContain('&quot;1&quot;');
  });

  test('show exactly the existing tables in the diagram of the store', async () => {
    const source = parse('store', read('docs/diagrams/store.txt'));
    const without = {
      ...source,
      lines: source.lines.filter((line) => !line.includes('oauth_audit')),
    };
    await expect(tables('store', without)).rejects.toThrow('not placed: oauth_audit');
    const more = { ...source, lines: [...source.lines, 'table oauth_invented 0: nothing'] };
    await expect(tables('store', more)).rejects.toThrow('no table oauth_invented');
  });
});
