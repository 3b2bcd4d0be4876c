/**
 * Writes docs/generated/program-messages.md. It lists the messages of the console, the
 * configuration and the doctor, so that you can read all of them in one place. They are read from
 * the sources.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'rolldown/utils';
import { ROOT } from './packages.ts';
import { writePage } from './write-page.ts';

/** A node of the syntax tree, with only the members that this file uses. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: unknown;
}

/** A message, and what to do about it if this is a separate text. */
interface ProgramMessage {
  readonly section: Section;
  /** The folder and the file, such as `console/key-checks`. */
  readonly source: string;
  readonly text: string;
  readonly remedy: string | null;
}

const SECTIONS = {
  console: 'Console: refusals',
  printed: 'Console: output and help',
  configuration: 'Configuration',
  doctor: 'Doctor',
} as const;
type Section = keyof typeof SECTIONS;

/** The section of a call's texts, by the name of the called function. */
const CALLS: readonly (readonly [callee: RegExp, section: Section])[] = [
  [/^(?:ok|warning|failing|skipped)$/, 'doctor'],
  [/^(?:Console|Registration|Access|KeyRotation|KeysLost|Listing)Error$|\.fail$/, 'console'],
  [/\.(?:print|description|summary|option|requiredOption|argument)$/, 'printed'],
  [/\.refine$|^ConfigurationError$/, 'configuration'],
];

/** The verbs after the key in a message about the configuration. */
const VERBS = /^(?:must|is|are|has|have|needs?|names|lacks|issues|cannot|takes) /;

/** Returns every message, sorted by section, file and place. */
export function programMessages(): readonly ProgramMessage[] {
  const files = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).filter(
    (file) => !/\.(?:test|d)\.ts$/.test(file),
  );
  return files
    .toSorted()
    .flatMap((file) => messagesOf(file, readFileSync(path.join(ROOT, file), 'utf8')));
}

/** Returns the messages of one source file. */
export function messagesOf(file: string, text: string): readonly ProgramMessage[] {
  const found: ProgramMessage[] = [];
  const seen = new Set<string>();
  const isAboutKeys = /ConfigurationProblem|\.refine\(|addIssue/.test(text);
  const source = file.replace(/^packages\/([^/]+)\/src\/(.*)\.ts$/, '$1/$2');
  const add = (section: Section, said: string, remedy: string | null) => {
    if (!/[a-z] /i.test(said) || seen.has(said)) return;
    seen.add(said);
    found.push({ section, source, text: said, remedy });
  };
  visit(parseSync(file, text).program as unknown as Node, (node) => {
    const section = sectionOf(node);
    if (section !== null) {
      for (const [said, remedy] of saidBy(section, node['arguments'] as readonly Node[]))
        add(section, said, remedy);
      return true;
    }
    if (!isAboutKeys || !isText(node)) return !isDescription(node);
    for (const said of textsOf(node)) if (VERBS.test(said)) add('configuration', said, null);
    return false;
  });
  return found;
}

/**
 * Returns the texts of a call, each with what to do. For an option, the text contains the option
 * and its description.
 */
function saidBy(
  section: Section,
  given: readonly Node[],
): readonly (readonly [said: string, remedy: string | null])[] {
  const [first = [], second = [], ...more] = given.filter((each) => !isFunction(each)).map(textsOf);
  const [remedy = null] = second;
  if (section === 'doctor') return first.map((said) => [said, remedy]);
  if (section === 'printed' && first[0]?.startsWith('-') === true)
    return [[remedy === null ? first[0] : `${first[0]}: ${remedy}`, null]];
  return [first, second, ...more].flat().map((said) => [said, null]);
}

/** Calls `look` for a node, and for the nodes in it if `look` returns true. */
function visit(node: Node, look: (node: Node) => boolean): void {
  if (!look(node)) return;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof (child as Node | null)?.type === 'string') visit(child as Node, look);
}

const isFunction = ({ type }: Node) => /Function/.test(type);
const isText = ({ type, value, operator }: Node) =>
  type === 'TemplateLiteral' ||
  (type === 'Literal' && typeof value === 'string') ||
  (type === 'BinaryExpression' && operator === '+');

/** Whether this is `says: '…'`. Such a text describes a rule for the documentation. */
const isDescription = ({ type, key }: Node) =>
  type === 'Property' && (key as Node)['name'] === 'says';

/** Returns the section of a call, or null for any other node. */
function sectionOf(node: Node): Section | null {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return null;
  const callee = nameOf(node['callee'] as Node);
  return CALLS.find(([pattern]) => pattern.test(callee))?.[1] ?? null;
}

/** Returns the name of a called function. For a method, it begins with a dot, such as `.fail`. */
function nameOf(node: Node): string {
  if (node.type === 'Identifier') return String(node['name']);
  if (node.type === 'MemberExpression') return `.${nameOf(node['property'] as Node)}`;
  return node.type === 'CallExpression' ? nameOf(node['callee'] as Node) : '';
}

/** Returns the texts that an expression can be. A variable part is a name in braces. */
function textsOf(node: Node | undefined): readonly string[] {
  if (node === undefined) return [];
  switch (node.type) {
    case 'Literal':
      return typeof node['value'] === 'string' ? [node['value']] : [];
    case 'TemplateLiteral':
      return [templateText(node)];
    case 'ConditionalExpression':
      return [node['consequent'], node['alternate']].flatMap((each) => textsOf(each as Node));
    case 'LogicalExpression':
      return [node['left'], node['right']].flatMap((each) => textsOf(each as Node));
    case 'BinaryExpression':
      if (!isText(node)) return [];
      return [[node['left'], node['right']].map((each) => partOf(each as Node)).join('')];
    case 'ArrayExpression':
      return (node['elements'] as readonly Node[]).flatMap(textsOf);
    case 'CallExpression': {
      // The expression may be `[…].join('\n')`.
      const callee = node['callee'] as Node;
      return callee.type === 'MemberExpression' ? textsOf(callee['object'] as Node) : [];
    }
    default:
      return [];
  }
}

function templateText(node: Node): string {
  const quasis = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[];
  const between = (node['expressions'] as readonly Node[]).map(partOf);
  return quasis.map(({ value }, index) => value.cooked + (between[index] ?? '')).join('');
}

/** Returns a part of a text: its first text, or the name of the variable in braces. */
function partOf(node: Node): string {
  const [text] = textsOf(node);
  return text ?? `{${nameOf(shownBy(node)).replace(/^\./, '') || 'value'}}`;
}

/** Returns what a text shows. For example, this is `names` for `names.join(', ')`. */
function shownBy(node: Node): Node {
  if (node.type === 'MemberExpression' && nameOf(node) === '.length') return node['object'] as Node;
  if (node.type !== 'CallExpression') return node;
  const callee = node['callee'] as Node;
  const name = nameOf(callee);
  const [argument] = node['arguments'] as readonly Node[];
  if (/^(?:\.stringify|quoted\w*|isoTime)$/.test(name) && argument !== undefined)
    return shownBy(argument);
  return /^\.(?:join|map|trim|toISOString)$/.test(name) ? shownBy(callee['object'] as Node) : node;
}

const INTRODUCTION = `# Messages of the console, the configuration and the doctor

Every text that these three write, from the sources. \`{name}\` stands for what varies. A message about the configuration follows
the key that it is about. Of the doctor's, the second column says what to do. [Troubleshooting](../troubleshooting.md) explains those that need more than a line.
`;

/** Returns the page as Markdown, for docs/generated. */
export function programMessagesPage(): string {
  const all = Object.groupBy(programMessages(), ({ section }) => section);
  const sections = Object.entries(SECTIONS).map(([section, title]) => {
    const messages = all[section as Section] ?? [];
    return `## ${title}\n\n${tableOf(messages, section === 'doctor')}\n`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}

function tableOf(messages: readonly ProgramMessage[], withRemedy: boolean): string {
  const head = withRemedy ? ['Message', 'What to do', 'In'] : ['Message', 'In'];
  const rows = messages.map(({ text, remedy, source }) =>
    withRemedy
      ? [cellOf(text), remedy === null ? '' : cellOf(remedy), `\`${source}\``]
      : [cellOf(text), `\`${source}\``],
  );
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** Escapes a text for a cell. */
const cellOf = (text: string) =>
  text
    .replaceAll(/[\\`*_[\]~]/g, String.raw`\$&`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('|', String.raw`\|`)
    .replaceAll('{', '&#123;')
    .trim()
    .replaceAll(/\s*\n\s*/g, '<br>');

if (import.meta.main) writePage('program-messages', programMessagesPage());
