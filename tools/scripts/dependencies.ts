/**
 * Writes docs/generated/dependencies.md. It lists each dependency with its reason, its size and
 * what could replace it. With --check, it reports dependencies without a reason.
 */
import path from 'node:path';
import { readLock, readManifest, treeOf, type Installed } from './supply/lock.ts';
import { DEVELOPMENT, INDIRECT, PEERS, RUNTIME, type Reason } from './supply/reasons.ts';
import { ownBytes, sizeText } from './supply/sizes.ts';
import { writePage } from './write-page.ts';

const root = path.join(import.meta.dirname, '..', '..');
const manifest = readManifest(root);
const lock = readLock(root);
const tree = treeOf(lock, Object.keys(manifest.dependencies));
const direct = new Set(Object.keys(manifest.dependencies));
const development = Object.keys(manifest.devDependencies).filter((name) => !direct.has(name));
const bytes = (packages: readonly Installed[]) =>
  packages.map((each) => ownBytes(root, each)).reduce((sum, size) => sum + size, 0);

const INTRODUCTION = `# Dependencies

What is installed with Portico, what it can use, and what only its tests use. Sizes are bytes on the disk, by the versions of
\`package-lock.json\`; "with its tree" counts all that npm brings along. \`npm run check\` fails where a dependency has no reason.`;

const SCRIPTS = `None of the packages of the first two tables has an install script, and none is compiled: \`node:sqlite\`, argon2id, ECDSA and EdDSA are
Node's own, so there is no \`node-gyp\` and no prebuilt binary. \`npm install --ignore-scripts\` installs the same.
[test/dependencies.test.ts](../../test/dependencies.test.ts) walks the tree. Among what only the tests use, \`node\` (which downloads a Node), \`core-js\`
and \`@modelcontextprotocol/inspector\` have one; \`allowScripts\` of package.json names that of \`node\` alone.`;

/** Returns the page as Markdown, for docs/generated. */
export function dependenciesPage(): string {
  return [
    INTRODUCTION,
    '## Installed with Portico',
    `${tree.length} packages, ${sizeText(bytes(tree))}.`,
    table(
      ['Package', 'Licence', 'Own', 'With its tree', 'Why', 'What would take its place'],
      Object.entries(RUNTIME).map(([name, reason]) =>
        row(name, manifest.dependencies[name] ?? '', reason),
      ),
    ),
    table(
      ['Brought along', 'Licence', 'Own', 'Why'],
      tree
        .filter(({ name }) => !direct.has(name))
        .map((each) => [
          code(each),
          each.license ?? '',
          sizeText(ownBytes(root, each)),
          INDIRECT[each.name] ?? '',
        ]),
    ),
    '## Brought by the application',
    'Peers, all of them optional: who does not use the entry does not install them. Sizes are of the newest version that the tests use.',
    table(
      ['Package', 'Licence', 'Own', 'With its tree', 'For', 'Without it'],
      Object.entries(PEERS).map(([name, reason]) =>
        row(name, manifest.peerDependencies[name] ?? '', reason),
      ),
    ),
    SCRIPTS,
    '## For work on Portico',
    'They are in no package, and in no bill of materials.',
    table(
      ['Packages', 'Why'],
      DEVELOPMENT.filter(([names]) => names.some((each) => developed(each).length > 0)).map(
        ([names, why]) => [
          names
            .flatMap(developed)
            .map((name) => `\`${name}\``)
            .join(', '),
          why,
        ],
      ),
    ),
    'The site (`site/`), the benchmarks (`bench/`) and the applications of `examples/` and `test/clients/` have lock files of their own.',
  ].join('\n\n');
}

function row(name: string, range: string, { why, instead }: Reason): readonly string[] {
  const own = treeOf(lock, [name]);
  const found = own.find((each) => each.name === name);
  if (found === undefined) throw new Error(`package-lock.json has no ${name}`);
  return [
    `\`${name}\` ${range.replaceAll('|', String.raw`\|`)}`,
    found.license ?? '',
    sizeText(ownBytes(root, found)),
    own.length === 1 ? 'the same' : `${sizeText(bytes(own))}, ${own.length} packages`,
    why,
    instead,
  ];
}

const code = ({ name, version }: Installed) => `\`${name}\` ${version}`;

/**
 * Returns the development dependencies that a name stands for. Leaves out those of an earlier
 * group.
 */
function developed(pattern: string): readonly string[] {
  const isMeant = (name: string) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  const first = (name: string) =>
    DEVELOPMENT.flatMap(([names]) => names).find((each) =>
      each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each,
    );
  return development.filter((name) => isMeant(name) && first(name) === pattern);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Returns dependencies without a reason, and reasons without a dependency. */
function problems(): readonly string[] {
  const patterns = DEVELOPMENT.flatMap(([names]) => names);
  const explained = new Set(patterns.flatMap(developed));
  return [
    ...compared(Object.keys(manifest.dependencies), Object.keys(RUNTIME)),
    ...compared(
      tree.map(({ name }) => name).filter((name) => !direct.has(name)),
      Object.keys(INDIRECT),
    ),
    ...compared(Object.keys(manifest.peerDependencies), Object.keys(PEERS)),
    ...compared(development, [...explained]),
  ];
}

function compared(there: readonly string[], explained: readonly string[]): readonly string[] {
  return [
    ...there.filter((name) => !explained.includes(name)).map((name) => `${name} has no reason`),
    ...explained
      .filter((name) => !there.includes(name))
      .map((name) => `${name} is not a dependency any more`),
  ];
}

if (import.meta.main) {
  const found = problems();
  for (const each of found) process.stderr.write(`tools/scripts/supply/reasons.ts: ${each}\n`);
  if (found.length > 0) process.exitCode = 1;
  else if (!process.argv.includes('--check')) writePage('dependencies', dependenciesPage());
}
