import path from 'node:path';
import {
  commentBefore,
  exportsOf,
  membersOf,
  moduleOf,
  publishedEntries,
  type Named,
} from '../scripts/public-names.ts';

/** A page that is generated from the declarations. */
export interface GeneratedPage {
  /** The path of the page on the site. */
  readonly path: string;
  readonly markdown: string;
}

/**
 * Returns the API reference. It has a page for each entry of the packages, and a page that lists
 * them. It is generated from the doc comments in `dist`.
 */
export function referencePages(root: string): readonly GeneratedPage[] {
  const entries = publishedEntries(root).map(([entry, file]) => ({ entry, names: namesOf(file) }));
  const rows = entries.map(
    ({ entry, names }) => `| [\`${entry}\`](${pageOf(entry)}) | ${names.length} |`,
  );
  const index = `# API reference\n\nWhat the package publishes, written from the comments in its declarations, which an editor shows too.\n\n| Import | Names |\n| --- | ---: |\n${rows.join('\n')}\n`;
  return [
    { path: 'reference/index.md', markdown: index },
    ...entries.map(({ entry, names }) => ({
      path: `reference/${pageOf(entry)}`,
      markdown: pageText(entry, names),
    })),
  ];
}

const pageOf = (entry: string) => `${path.basename(entry)}.md`;

/** Returns functions and values first, then classes, then types. Each group is sorted by name. */
function namesOf(file: string): readonly Named[] {
  const order = ['function', 'value', 'class', 'interface', 'type'];
  return exportsOf(moduleOf(file)).toSorted(
    (one, other) =>
      order.indexOf(kindOf(one)) - order.indexOf(kindOf(other)) || (one.name < other.name ? -1 : 1),
  );
}

const KINDS: Readonly<Record<string, string>> = {
  FunctionDeclaration: 'function',
  TSDeclareFunction: 'function',
  VariableDeclaration: 'value',
  ClassDeclaration: 'class',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
};
const kindOf = ({ declaration }: Named) => KINDS[declaration.type] ?? 'type';

const HEADINGS: readonly (readonly [title: string, kinds: readonly string[]])[] = [
  ['Functions and values', ['function', 'value']],
  ['Classes', ['class']],
  ['Types', ['interface', 'type']],
];

function pageText(entry: string, names: readonly Named[]): string {
  const published = new Set(names.map(({ name }) => name));
  const parts = HEADINGS.flatMap(([title, kinds]) => {
    const own = names.filter((each) => kinds.includes(kindOf(each)));
    return own.length === 0 ? [] : [`## ${title}`, ...own.map((each) => nameText(each, published))];
  });
  const values = names.filter((each) => ['function', 'value', 'class'].includes(kindOf(each)));
  const [first] = values.length === 0 ? names : values;
  const example = `import ${values.length === 0 ? 'type ' : ''}{ ${first?.name} } from '${entry}';`;
  return [`# ${entry}`, `\`\`\`ts\n${example}\n\`\`\``, ...parts].join('\n\n');
}

function nameText(named: Named, published: ReadonlySet<string>): string {
  const { name, module, start, declaration } = named;
  const code = signatureOf(named);
  const mentioned = [...new Set(code.match(/\b[A-Z]\w+/g))].filter(
    (each) => each !== name && published.has(each),
  );
  const members = membersOf(declaration).map((member) => {
    const comment = commentBefore(module, member.start);
    return comment === null ? [] : [`- **\`${member.name}\`**: ${oneLine(inLine(comment))}`];
  });
  const links = mentioned.map((each) => `[${each}](#${each.toLowerCase()})`);
  return [
    `### ${name}`,
    inBlocks(commentBefore(module, start) ?? ''),
    `\`\`\`ts\n${code}\n\`\`\``,
    members.flat().join('\n'),
    links.length === 0 ? '' : `See ${links.join(', ')}.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Turns the example in a comment into a code block, if it is not one already. */
const inBlocks = (comment: string) =>
  comment
    .replaceAll(
      /^@example\s+(?!`)([^]*?)(?=^@|(?![^]))/gm,
      (_, code: string) => `For example:\n\n\`\`\`ts\n${code.trim()}\n\`\`\`\n`,
    )
    .replaceAll(/^@example\s+/gm, '')
    .trim();

/** Turns the example in a list item into inline code, because it is short there. */
const inLine = (comment: string) =>
  comment.replaceAll(/^@example\s+(?!`)(.+)$/gm, 'For example: `$1`');

const oneLine = (comment: string) => comment.replaceAll(/\s*\n\s*/g, ' ');

/**
 * Returns the declaration without its comments and private members. The list below the declaration
 * contains the comments.
 */
function signatureOf({ module, declaration }: Named): string {
  const { start, end } = declaration;
  const inside = module.parsed.comments.filter((each) => each.start >= start && each.end <= end);
  let text = module.text.slice(start, end);
  for (const comment of inside.toReversed())
    text = text.slice(0, comment.start - start) + text.slice(comment.end - start);
  return text
    .replace(/^declare /, '')
    .replaceAll(/^ +(?:#private|private [^\n]*);\n/gm, '')
    .replaceAll(/^[ \t]*\n/gm, '')
    .trim();
}
