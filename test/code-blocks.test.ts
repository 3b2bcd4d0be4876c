// @engines sqlite, needs python: it reads the pages and the console's help
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Eta } from 'eta';
import type * as Yaml from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pagesOf } from '../tools/scripts/markdown.ts';
import { ConsoleHelp } from './support/console-help.ts';
import { porticoHere, ROOT } from './support/console.ts';
import { blocksOf, codeBlocks, type CodeBlock } from './support/documents.ts';
import { commandsOf, filledIn, type ShellCommand } from './support/shell.ts';

const BLOCKS = codeBlocks();
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const where = ({ page, line }: CodeBlock) => `${page}:${line}`;

let storage: string;
let help: ConsoleHelp;
beforeAll(async () => {
  storage = await mkdtemp(path.join(tmpdir(), 'portico-help-'));
  help = await ConsoleHelp.ask(storage);
  const portal = path.join(ROOT, 'examples', 'portal');
  await porticoHere(['db:migrate', 'up'], { cwd: portal, env: { STORAGE_DIR: storage } });
});
afterAll(() => rm(storage, { recursive: true, force: true }));

/** The problems of a block in some language; test/docs.test.ts compiles the other languages. */
const CHECKS: Readonly<
  Record<string, (block: CodeBlock) => readonly string[] | Promise<readonly string[]>>
> = {
  sh: problemsOfShell,
  json: ({ code }) => failureOf(() => JSON.parse(code)),
  yaml: ({ code }) => failureOf(() => parseYaml(code)),
  ini: problemsOfIni,
  sql: problemsOfSql,
  html: problemsOfView,
  python: ({ code }) => problemsOfPython(code),
};

const COMPILED = /^tsx?$/;

const failureOf = (work: () => unknown): readonly string[] => {
  try {
    work();
    return [];
  } catch (error) {
    return [String(error)];
  }
};

/** The parser that comes with the test tools. */
const parseYaml = (code: string): unknown => {
  const inspector = createRequire(
    path.join(ROOT, 'node_modules/@modelcontextprotocol/inspector/package.json'),
  );
  const { parseAllDocuments } = inspector('yaml') as typeof Yaml;
  return parseAllDocuments(code).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as unknown;
  });
};

const VIEWS = new Eta();

/** HTML on the pages belongs to views: Eta must compile it, and its tags must be balanced. */
function problemsOfView({ code }: CodeBlock): readonly string[] {
  const problems = failureOf(() => VIEWS.compile(code));
  const open: string[] = [];
  const tags = code.replaceAll(/<%[^]*?%>/g, '').matchAll(/<(\/?)([a-z][\w-]*)[^>]*?(\/?)>/g);
  for (const [, closes = '', name = '', closed = ''] of tags) {
    if (closes !== '') {
      if (open.pop() !== name) return [...problems, `</${name}> closes nothing`];
    } else if (closed === '' && !VOID.has(name)) open.push(name);
  }
  return [...problems, ...open.map((name) => `<${name}> is not closed`)];
}

const VOID = new Set(['input', 'img', 'br', 'hr', 'link', 'meta']);

/** The statements are prepared on a database of the portal: its tables and columns exist. */
function problemsOfSql({ code }: CodeBlock): readonly string[] {
  const [file = ''] = globSync('**/*.sqlite', { cwd: storage });
  const database = new DatabaseSync(path.join(storage, file), { readOnly: true });
  try {
    const statements = code.split(/;\s*(?:\n|$)/).filter((statement) => statement.trim() !== '');
    return statements.flatMap((statement) => failureOf(() => database.prepare(statement)));
  } finally {
    database.close();
  }
}

/** Sections, comments, and lines with a name and a value. */
function problemsOfIni({ code }: CodeBlock): readonly string[] {
  return code
    .split('\n')
    .filter((line) => !/^(?:|[#;].*|\[[\w .-]+\]|[\w.-]+ *= *\S.*)$/.test(line));
}

function problemsOfPython(code: string): readonly string[] {
  const { status, stderr } = spawnSync(
    'python3',
    ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'],
    {
      input: code,
      encoding: 'utf8',
    },
  );
  return status === 0 ? [] : [stderr];
}

// --- shell
// ----------------------------------------------------------------------------------------------------

/** Programs that every system has. */
const SYSTEM = new Set(
  'break cat cd chmod chown cp crontab curl date echo export grep head install jq kill ln ls mkdir mv openssl printf ps read rm sed sha256sum sleep sort tail tar tee test touch true umask uniq unset wc [ :'.split(
    ' ',
  ),
);

/** Third-party programs, which the reader has or installs: their options are not checked. */
const OTHERS: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  codex: 'Codex CLI',
  cloudflared: 'the tunnel of Cloudflare',
  bun: 'Bun; examples/bun runs what the page has in TypeScript',
  deno: 'Deno; examples/deno does the same',
  initdb: 'PostgreSQL',
  pg_ctl: 'PostgreSQL',
  'softhsm2-util': 'SoftHSM; test/key-signer-pkcs11.test.ts runs it',
  'pkcs11-tool': 'OpenSC; test/key-signer-pkcs11.test.ts runs it',
};

/** Pages about this repository: their scripts and files are those of this repository. */
const isOurs = (page: string) => !page.startsWith('docs/') || page.startsWith('docs/decisions/');
const SCRIPTS = (JSON.parse(read('package.json')) as { readonly scripts: Record<string, string> })
  .scripts;
/** npm's own commands that are not scripts. */
const NPM = new Set([
  'create',
  'install',
  'ci',
  'pkg',
  'run',
  'start',
  'test',
  'init',
  'exec',
  'pack',
]);

async function problemsOfShell(block: CodeBlock): Promise<readonly string[]> {
  const { status, stderr } = spawnSync('bash', ['-n'], {
    input: filledIn(block.code),
    encoding: 'utf8',
  });
  if (status !== 0) return [stderr];
  const problems = await Promise.all(
    commandsOf(block.code).map(async (command) => {
      const problem = await problemOfCommand(block.page, command);
      return problem === null ? [] : [`line ${command.line}: ${problem}`];
    }),
  );
  return problems.flat();
}

async function problemOfCommand(page: string, { words }: ShellCommand): Promise<string | null> {
  const ofConsole = consoleWords(words);
  if (ofConsole !== null) return help.problemOf(ofConsole);
  const [program = '', ...args] = words;
  if (program === 'npm') return problemOfNpm(page, args);
  if (program === 'npx')
    return installed(args[0] ?? '') ? null : `npx ${args[0]}: the tests do not have it`;
  if (program === 'node') return isOurs(page) ? problemOfNode(page, args) : null;
  return SYSTEM.has(program) || Object.hasOwn(OTHERS, program) ? null : `${program}: unknown here`;
}

/** Returns the words after `npx portico`, for each way to call it. Null for other commands. */
function consoleWords(words: readonly string[]): readonly string[] | null {
  const [, before, rest = ''] =
    /^((?:npx|bunx --bun|deno run -A) (?:npm:)?portico)(?: |$)([^]*)$/.exec(words.join(' ')) ?? [];
  return before === undefined
    ? null
    : words.slice(words.length - (rest === '' ? 0 : countOf(words, before)));
}

const countOf = (words: readonly string[], before: string) =>
  words.length - before.split(' ').length;

function problemOfNpm(page: string, args: readonly string[]): string | null {
  const [command = '', name = ''] = args.filter((each) => !each.startsWith('-'));
  if (!NPM.has(command)) return `npm has no ${command} here`;
  if (!isOurs(page)) return null;
  const script = command === 'run' ? name : ['start', 'test'].includes(command) ? command : null;
  return script === null || script in SCRIPTS ? null : `there is no script ${script}`;
}

/**
 * Programs in `tools/bench/dist` are built from their sources. A page may run a file that it shows.
 */
function problemOfNode(page: string, args: readonly string[]): string | null {
  const file = args.find((each) => !each.startsWith('-')) ?? '';
  if (BLOCKS.some((block) => block.page === page && block.file === file)) return null;
  const source = file.replace(/^tools\/bench\/dist\/(.*)\.js$/, 'tools/bench/$1.ts');
  return existsSync(path.join(ROOT, source)) ? null : `there is no ${source}`;
}

const installed = (name: string) => existsSync(path.join(ROOT, 'node_modules', name));

// --- the tests
// ------------------------------------------------------------------------------------------------

const isMarked = ({ partOf, checkedBy, unchecked }: CodeBlock) =>
  partOf !== null || checkedBy !== null || unchecked !== null;
const CHECKED = BLOCKS.filter((block) => !COMPILED.test(block.info[0] ?? '') && !isMarked(block));

describe('every code block', () => {
  test('is in a language that is checked, or names its test or the reason why it is not checked', () => {
    const left = CHECKED.filter(({ info }) => !Object.hasOwn(CHECKS, info[0] ?? ''));
    expect(left.map((block) => `${where(block)} ${block.info.join(' ')}`)).toEqual([]);
  });

  test('starts at the beginning of a line, because an indented block is not found', () => {
    const fences = pagesOf(ROOT).flatMap((page) => {
      const seen = blocksOf(page, read(page)).length;
      const all = [...read(page).matchAll(/^[ >]*```/gm)].length / 2;
      return seen === all ? [] : [`${page}: ${seen} blocks are seen of ${all}`];
    });
    expect(fences).toEqual([]);
  });

  test('that names a test is used by this test', () => {
    const wrong = BLOCKS.filter(
      ({ page, checkedBy }) =>
        checkedBy !== null &&
        !(existsSync(path.join(ROOT, checkedBy)) && read(checkedBy).includes(path.basename(page))),
    );
    expect(wrong.map(where)).toEqual([]);
  });
});

async function problemsIn(markdown: string): Promise<readonly string[]> {
  const found = blocksOf('README.md', markdown).map(
    async (block) => CHECKS[block.info[0] ?? '']?.(block) ?? ['unseen'],
  );
  return (await Promise.all(found)).flat();
}

describe('the check of code blocks', () => {
  const pages = [...new Set(CHECKED.map(({ page }) => page))];

  test.each(pages)(
    'finds only valid code, existing commands and existing options: %s',
    async (page) => {
      const problems = await Promise.all(
        CHECKED.filter((block) => block.page === page).map(async (block) => {
          const check = CHECKS[block.info[0] ?? ''];
          return (check === undefined ? [] : await check(block)).map(
            (problem) => `${where(block)} ${problem}`,
          );
        }),
      );
      expect(problems.flat()).toEqual([]);
    },
  );

  test('covers many blocks of each language', () => {
    const counts = Object.groupBy(CHECKED, ({ info }) => info[0] ?? '');
    expect(
      [counts['sh']?.length ?? 0, counts['json']?.length ?? 0].map((count) => count > 10),
    ).toEqual([true, true]);
  });

  test.each([
    [
      'an unknown command',
      'npx portico oauth:client:make',
      'there is no command oauth:client:make',
    ],
    [
      'an unknown option',
      'npx portico oauth:keys:rotate --if-older=30d',
      'it has no option --if-older',
    ],
    ['a value for a switch', 'npx portico oauth:keys:rotate --now=1', '--now takes no value'],
    [
      'a missing argument',
      'npx portico --app a.ts account:deny x',
      '2 arguments are needed, and there are 1',
    ],
    ['an additional argument', 'npx portico serve now', '0 arguments at most, and there are 1'],
    ['an unknown command in brackets', 'x=$(npx portico nothing)', 'there is no command nothing'],
    [
      'an unknown command after another one',
      'cd a && FOO=1 npx portico nothing | jq .',
      'there is no command nothing',
    ],
    ['an unknown program', 'frobnicate', 'frobnicate: unknown here'],
    ['an unknown script', 'npm run nothing', 'there is no script nothing'],
  ])('finds wrong shell code: %s', async (_, code, problem) => {
    expect(await problemsIn(`\`\`\`sh\n${code}\n\`\`\`\n`)).toEqual([`line 1: ${problem}`]);
  });

  test.each([
    ['JSON', 'json\n{ "a": 1, }', 'SyntaxError'],
    ['YAML', 'yaml\na: [1', 'YAMLParseError'],
    ['a view', 'html\n<p><%= it.name( %></p>', 'Eta'],
    ['HTML', 'html\n<p><b>x</p>', '</p> closes nothing'],
    ['an INI file', 'ini\nnothing', 'nothing'],
    ['Python', 'python\ndef f(:', 'SyntaxError'],
    ['SQL with an unknown table', 'sql\nDELETE FROM nowhere;', 'no such table'],
  ])('finds errors in %s', async (_, block, problem) => {
    expect(await problemsIn(`\`\`\`${block}\n\`\`\`\n`)).toEqual([
      expect.stringContaining(problem),
    ]);
  });

  test('finds an unclosed quote', async () => {
    expect(await problemsIn("```sh\necho 'it\n```\n")).toEqual([
      expect.stringContaining('unexpected EOF'),
    ]);
  });
});

describe('a command in a sentence or table of a page', () => {
  const NAMED = /`(?:npx portico )?((?:oauth|db|account):[a-z][a-z:-]*[a-z])(?![\w:])[^`]*`/g;

  test('exists in the console', () => {
    const named = pagesOf(ROOT)
      .filter((page) => page !== 'CHANGELOG.md')
      .flatMap((page) => [...read(page).matchAll(NAMED)].map(([, name = '']) => ({ page, name })));
    expect(named.filter(({ name }) => !help.names.has(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });
});
