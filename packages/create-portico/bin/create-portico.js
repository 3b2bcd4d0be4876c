#!/usr/bin/env node
// Only this file must also run on older versions of Node, to say which version is needed.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 7)) {
  process.stderr.write(
    `create-portico needs Node 24.7 or later; this is ${process.versions.node}.\n`,
  );
  process.exit(1);
}

// EPIPE means that the reader of the output has stopped reading, for example `| head`. Continue, so
// that the application is complete.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error;
  });

const { createPortico } = await import('../dist/index.js');
process.exitCode = await createPortico(process.argv.slice(2), {
  cwd: process.cwd(),
  input: process.stdin,
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
});
process.stdin.unref?.();
