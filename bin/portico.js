#!/usr/bin/env node
import { runConsole } from '../dist/host/console.js';

process.exitCode = await runConsole(process.argv.slice(2), {
  cwd: process.cwd(),
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
});
