// Writes into ARCHITECTURE.md which files four requests pass, in order, as the running code tells it; with --check, says
// whether the page still says so. With --counts, prints how often each comes back to a room that it had left.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const page = path.join(root, 'ARCHITECTURE.md');
const PLACE = /(<!-- written by npm run ways -->\n)[\s\S]*(<!-- end of what npm run ways writes -->)/;

const TITLES: Readonly<Record<string, string>> = {
  authorization:
    'An authorization: the request, the way back from signing in, the answer, the exchange of the code',
  refresh: 'A refresh',
  bearer: 'A call of the host’s own API with a bearer token',
  'tool call': 'A call of a tool over MCP',
};

const ways = drive();
if (process.argv.includes('--counts')) {
  for (const [name, entered] of Object.entries(ways)) process.stdout.write(`${name}: ${countsOf(entered)}\n`);
} else {
  const before = readFileSync(page, 'utf8');
  const lines = Object.entries(ways).map(
    ([name, entered]) => `- **${TITLES[name] ?? name}.** ${passed(entered)}`,
  );
  const after = before.replace(
    PLACE,
    (_, begin: string, end: string) => `${begin}\n${lines.join('\n')}\n\n${end}`,
  );
  if (!process.argv.includes('--check')) writeFileSync(page, after);
  else if (after !== before) {
    process.stderr.write('ARCHITECTURE.md does not say which files a request passes: run npm run ways\n');
    process.exitCode = 1;
  }
}

function drive(): Readonly<Record<string, readonly string[]>> {
  const preload = ['--disable-warning=ExperimentalWarning', '--import', './scripts/ways/trace.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...preload, 'scripts/ways/drive.ts'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`The ways could not be taken: ${stderr}`);
  return JSON.parse(stdout) as Readonly<Record<string, readonly string[]>>;
}

/** Each file where it is first entered, by its room: `host/http: server, routes → oauth-server: plugin`. */
function passed(entered: readonly string[]): string {
  const rooms: { readonly room: string; readonly files: string[] }[] = [];
  for (const file of new Set(entered)) {
    const room = roomOf(file);
    const last = rooms.at(-1);
    if (last?.room === room) last.files.push(nameOf(file));
    else rooms.push({ room, files: [nameOf(file)] });
  }
  return rooms.map(({ room, files }) => `\`${room}\`: ${files.join(', ')}`).join(' → ');
}

function countsOf(entered: readonly string[]): string {
  const rooms = entered.map(roomOf).filter((room, index, all) => room !== all[index - 1]);
  const distinct = new Set(rooms).size;
  const files = new Set(entered).size;
  return `${files} files in ${distinct} rooms, ${rooms.length - distinct} times back in a room that it had left`;
}

function roomOf(file: string): string {
  return path.posix.dirname(file).replace(/^src\//, '');
}

function nameOf(file: string): string {
  return path.posix.basename(file, '.ts');
}
