#!/usr/bin/env node
// Only this file must also run on older versions of Node, to say which version is needed.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 7)) {
  process.stderr.write(
    `Portico needs Node 24.7 or later; this is ${process.versions.node}. npm install --save-dev node@24 brings one along.\n`,
  );
  process.exit(1);
}

// `serve` runs with a bounded young generation (docs/decisions/0027). Node reads this limit only
// when it starts, so the process replaces itself. There is still only one process: it keeps its
// process ID (also as PID 1), receives the signals and sets the exit code.
const isServer = commandOf(process.argv.slice(2)) === 'serve';
if (isServer && (await mayStartAgain())) {
  const args = [...process.execArgv, '--max-semi-space-size=4', ...process.argv.slice(1)];
  if (process.platform !== 'win32')
    process.execve?.(process.execPath, [process.argv0, ...args], process.env);
  else process.exit(await endOf(args));
}

function commandOf(args) {
  return args.find(
    (argument, index) =>
      !/^--(?:app|config)(?:=|$)/.test(argument) &&
      !/^--(?:app|config)$/.test(args[index - 1] ?? ''),
  );
}

/**
 * Returns whether the process may replace itself. It may not if an operator has set the size of the
 * young generation or the heap, or without the permission to start processes. It also may not if
 * the new process would lose something: a debugger, the channel to the parent process, or the
 * sockets that systemd passes.
 */
async function mayStartAgain() {
  const flags = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  if (/--(?:(?:min|max)[-_]semi[-_]space|max[-_]heap)[-_]size/.test(flags)) return false;
  if (process.channel !== undefined || process.env['LISTEN_FDS'] !== undefined) return false;
  if ('permission' in process && !process.permission.has('child')) return false;
  const { default: inspector } = await import('node:inspector');
  return inspector.url() === undefined;
}

/**
 * Runs Node with these arguments as a child process, because Windows cannot replace a process.
 * Resolves to the exit code of the child. Ctrl+C in a console reaches the child directly, and
 * Windows ends the child together with this process.
 */
async function endOf(args) {
  const { spawn } = await import('node:child_process');
  for (const signal of ['SIGINT', 'SIGBREAK', 'SIGHUP']) process.on(signal, () => {});
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

// EPIPE means that the reader of the output has stopped reading, for example `| head`. This is not
// an error. A server must not end because no one reads its lines.
process.stdout.on('error', (error) => {
  if (isServer) return;
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.stderr.on('error', (error) => {
  if (!isServer && error.code !== 'EPIPE') throw error;
});

const { runConsole } = await import('../dist/console/program/console.js');
const code = await runConsole(process.argv.slice(2), {
  cwd: process.cwd(),
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  columns: () =>
    process.stderr.isTTY && process.env['TERM'] !== 'dumb' ? process.stderr.columns || 80 : null,
});
// The command has finished. Write its output, and then exit, even if the application still has
// timers, pools or servers.
for (const stream of [process.stdout, process.stderr])
  await new Promise((done) => stream.write('', done));
process.exit(code);
