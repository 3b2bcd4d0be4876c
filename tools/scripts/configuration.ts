/**
 * Writes docs/configuration.md. It contains each key of the configuration schemas with its doc
 * comment. With --check, it only reports what is wrong.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as prettier from 'prettier';
import { GROUPS, PAGES } from './configuration/groups.ts';
import { keysOf, optionsOf, type Key } from './configuration/keys.ts';
import { chapters, type Rule } from './conformance/rules.ts';

const root = path.join(import.meta.dirname, '..', '..');
const page = path.join(root, 'docs', 'configuration.md');
const written = (name: string) =>
  readFileSync(path.join(root, 'tools', 'scripts', 'configuration', name), 'utf8');
const { keys, problems } = keysOf(root);
const RULES: readonly Rule[] = chapters(root)
  .flatMap(({ rules }) => rules)
  .filter(({ id }) => /^(?:AS|MCP|HOST)-/.test(id));

function pageText(): string {
  const sections = GROUPS.map(({ question, says, keys: own }) => {
    const rows = inOrder(own).map(row);
    const text = says === undefined ? '' : `${says}\n\n`;
    const header = '| Key | Type | Default | What it does |\n| --- | --- | --- | --- |\n';
    return rows.length === 0 ? '' : `## ${question}\n\n${text}${header}${rows.join('\n')}\n`;
  });
  return [written('introduction.md'), ...sections, ...optionTables(), written('more.md')]
    .filter((each) => each !== '')
    .join('\n');
}

/** Returns a table for each function that takes options in code. */
function optionTables(): readonly string[] {
  return optionsOf(root).map(({ takenBy, options }) => {
    const rows = options.map(({ name, says }) => `| \`${name}\` | ${cell(says)} |\n`);
    return `## In code: \`${takenBy}\`\n\n| Option | What it is |\n| --- | --- |\n${rows.join('')}`;
  });
}

/** Returns the keys of a group in their order. Each key is followed by the keys below it. */
function inOrder(own: readonly string[]): readonly Key[] {
  return own.flatMap((name) => keys.filter(({ key }) => groupOf(key) === name));
}

/**
 * Returns the group of a key: the longest name that is the key or above it. The group with the
 * empty name contains all other keys.
 */
function groupOf(key: string): string {
  const names = GROUPS.flatMap(({ keys: own }) => own).filter((name) => isAtOrBelow(key, name));
  return names.reduce((longest, name) => (name.length > longest.length ? name : longest), '');
}

const isAtOrBelow = (key: string, name: string): boolean =>
  key === name || key.startsWith(`${name}:`);

function row({ key, type, says, defaultValue }: Key): string {
  const rule = RULES.find(({ text }) => text.includes(`\`${key}\``));
  const isBeyond = rule?.text.startsWith('†') ?? false;
  const [, more = null] = Object.entries(PAGES).findLast(([name]) => isAtOrBelow(key, name)) ?? [];
  const links = [
    ...(rule === undefined ? [] : [`[${rule.id}](specification.md#${rule.id.toLowerCase()})`]),
    ...(more === null || key.split(':').length > 2 ? [] : [`[more](${more})`]),
  ];
  const name = `<a id="${anchor(key)}"></a>\`${key}\`${isBeyond ? ' †' : ''}`;
  const text = links.length === 0 ? says : `${says} ${links.join(', ')}`;
  return `| ${[name, type, defaultValue, text].map(cell).join(' | ')} |`;
}

const anchor = (key: string): string => key.replaceAll(/[:<>]+/g, '-').replaceAll('_', '-');
const cell = (text: string): string => text.replaceAll(/(?<!\\)\|/g, String.raw`\|`);

/** Returns the page as `npm run format` would format it. */
async function formatted(): Promise<string> {
  const options = await prettier.resolveConfig(page);
  return prettier.format(pageText(), { ...options, filepath: page });
}

const text = await formatted();
if (process.argv.includes('--check')) {
  const isCurrent = existsSync(page) && readFileSync(page, 'utf8') === text;
  const found = [
    ...problems,
    ...(isCurrent ? [] : ['docs/configuration.md is out of date: npm run configuration']),
  ];
  for (const problem of found) process.stderr.write(`${problem}\n`);
  if (found.length > 0) process.exitCode = 1;
} else {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  writeFileSync(page, text);
  process.stdout.write(`${keys.length} keys\n`);
}
