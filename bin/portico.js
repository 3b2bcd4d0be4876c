#!/usr/bin/env node
// This file alone must run on older Nodes, to say what is needed.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 7)) {
  process.stderr.write(
    `Portico needs Node 24.7 or later; this is ${process.versions.node}. npm install --save-dev node@24 brings one along.\n`,
  );
  process.exit(1);
}

// Whoever reads no further, as `| head` does, has what they wanted.
process.stdout.on('error', (error) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const { runConsole } = await import('../dist/host/console.js');
process.exitCode = await runConsole(process.argv.slice(2), {
  cwd: process.cwd(),
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
});
