/**
 * `npm run release -- --output <folder>` releases the commit that is checked out:
 *
 * 1. It checks whether the commit can be released.
 * 2. It builds the commit twice in completely different environments, and compares the packages
 *    byte for byte.
 * 3. It writes the bill of materials, the provenance and the checksums next to the packages.
 *
 * It publishes nothing. A workflow runs it in a job without rights, and publishes these files in
 * another job (`.github/workflows/release.yml`).
 *
 * With `--dry-run`, it needs no network and no address of the repository: it builds with the
 * packages that are installed here.
 *
 * With `--tag`, it does the same for a commit without a tag, and then tags the commit and records
 * it in tools/release/releases.json. `--prepare <version>` writes the version and the section of
 * the changelog before that.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pack, type Surroundings, type Tarballs } from './supply/builds.ts';
import { prepareRelease, recordRelease } from './supply/prepare.ts';
import { git, problemsOf, problemsOfRepository } from './supply/checks.ts';
import { readManifest } from './supply/lock.ts';
import { sbomOf } from './supply/sbom.ts';
import { digestOf, provenanceOf, sums } from './supply/statements.ts';
import { differences } from './supply/tarball.ts';

const root = path.join(import.meta.dirname, '..', '..');
const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    tag: { type: 'boolean', default: false },
    prepare: { type: 'string' },
    output: { type: 'string' },
  },
});
const isTagging = values.tag;
const isDryRun = values['dry-run'] || isTagging;
const output = path.resolve(values.output ?? path.join(root, '.build', 'release'));
const { name, version, repository } = readManifest(root);

const problems = () => [
  ...problemsOf(root, isTagging),
  ...(isDryRun ? [] : problemsOfRepository(root)),
];
if (values.prepare === undefined) await release(problems());
else prepareRelease(root, values.prepare, new Date());

async function release(found: readonly string[]): Promise<void> {
  if (found.length > 0) {
    fail(found);
    return;
  }
  say(`${name} ${version}: the tree is clean${isTagging ? '' : ', tagged'} and in the changelog`);
  const aside = mkdtempSync(path.join(tmpdir(), 'portico-release-'));
  try {
    await buildTwice(aside);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

async function buildTwice(aside: string): Promise<void> {
  const here: Surroundings = {
    folder: path.join(aside, 'a'),
    umask: '022',
    timeZone: 'UTC',
    locale: 'C',
  };
  const elsewhere: Surroundings = {
    folder: path.join(aside, 'b', 'a longer path'),
    umask: '077',
    timeZone: 'Asia/Kathmandu',
    locale: 'tr_TR.UTF-8',
    fileTime: 981_173_106,
  };
  const commit = git(root, 'rev-parse', 'HEAD');
  const modules = isDryRun ? { modules: path.join(root, 'node_modules') } : {};
  const options = { root, commit, ...modules };
  const [tarballs, again] = await Promise.all([pack(options, here), pack(options, elsewhere)]);
  const found = [...tarballs].flatMap(([file, tarball]) =>
    differences(tarball, again.get(file) ?? Buffer.alloc(0)).map((each) => `${file}: ${each}`),
  );
  if (found.length > 0) {
    fail(['Two builds of this commit differ:', ...found.slice(0, 20)]);
    return;
  }
  say('built twice, with the same bytes');
  write(tarballs, path.join(here.folder, 'portico'), commit);
  if (isTagging) tag(commit);
  if (isDryRun) say('a dry run: nothing is published');
}

function write(tarballs: Tarballs, clone: string, commit: string): void {
  const timestamp = new Date(1000 * Number(git(root, 'log', '-1', '--format=%ct'))).toISOString();
  const main = tarballs.get(fileOf('.tgz')) ?? Buffer.alloc(0);
  const sbom = sbomOf(clone, { timestamp, sha512: digestOf('sha512', main) });
  const files = new Map<string, Uint8Array | string>([
    ...tarballs,
    [fileOf('.cdx.json'), json(sbom)],
  ]);
  const provenance = provenanceOf(files, {
    commit,
    tag: `v${version}`,
    repository: repository?.url ?? null,
    lock: readFileSync(path.join(clone, 'package-lock.json'), 'utf8'),
    npm: execFileSync('npm', ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim(),
    environment: process.env,
  });
  files.set(fileOf('.provenance.json'), json(provenance));
  mkdirSync(output, { recursive: true });
  for (const [file, content] of files) writeFileSync(path.join(output, file), content);
  writeFileSync(path.join(output, 'SHA256SUMS'), sums('sha256', files));
  writeFileSync(path.join(output, 'SHA512SUMS'), sums('sha512', files));
  say(`${[...files.keys(), 'SHA256SUMS', 'SHA512SUMS'].join(', ')} in ${output}`);
}

function tag(commit: string): void {
  git(root, 'tag', `v${version}`, commit);
  recordRelease(root, { version, commit, date: git(root, 'log', '-1', '--format=%cs') });
  say(`tagged v${version}; commit tools/release/releases.json, and push the tag to publish`);
}

function fileOf(ending: string): string {
  return `${name}-${version}${ending}`;
}

function json(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(lines: readonly string[]): void {
  process.stderr.write(`${lines.join('\n')}\n`);
  process.exitCode = 1;
}
