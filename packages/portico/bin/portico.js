#!/usr/bin/env node
// This file alone must run on older Nodes, to say what is needed.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 7)) {
  process.stderr.write(
    `Portico needs Node 24.7 or later; this is ${process.versions.node}. npm install --save-dev node@24 brings one along.\n`,
  );
  process.exit(1);
}

// `serve` with a bounded young generation (docs/decisions/0027): Node takes that only when it starts. The process is replaced
// by itself, so that signals, the exit code and the place as PID 1 are one process's as before.
if (commandOf(process.argv.slice(2)) === 'serve' && (await mayStartAgain())) {
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

/** Not where an operator has said otherwise, nor where something would be lost: a debugger, a parent's channel, a socket of systemd's. */
async function mayStartAgain() {
  const flags = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  if (/--(?:(?:min|max)[-_]semi[-_]space|max[-_]heap)[-_]size/.test(flags)) return false;
  if (process.channel !== undefined || process.env['LISTEN_FDS'] !== undefined) return false;
  if ('permission' in process && !process.permission.has('child')) return false;
  const { default: inspector } = await import('node:inspector');
  return inspector.url() === undefined;
}

/** Windows cannot replace a process: a child, which a console's Ctrl+C reaches by itself, and which Windows ends with this one. */
async function endOf(args) {
  const { spawn } = await import('node:child_process');
  for (const signal of ['SIGINT', 'SIGBREAK', 'SIGHUP']) process.on(signal, () => {});
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

// Whoever reads no further, as `| head` does, has what they wanted.
process.stdout.on('error', (error) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const { runConsole } = await import('../dist/console/program/console.js');
const code = await runConsole(process.argv.slice(2), {
  cwd: process.cwd(),
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  columns: () =>
    process.stderr.isTTY && process.env['TERM'] !== 'dumb' ? process.stderr.columns || 80 : null,
});
// The command is done; timers, pools and servers of the application must not keep it from ending. Its output goes out first.
for (const stream of [process.stdout, process.stderr])
  await new Promise((done) => stream.write('', done));
process.exit(code);
