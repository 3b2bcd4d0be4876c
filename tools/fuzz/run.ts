// Fuzzes the parsers that read bytes from strangers. See `tools/fuzz/README.md`.
import { appendFileSync, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Finding } from './engine/protocol.ts';
import { FAULTS } from './faults.ts';
import { fuzz, targetNames, type Result } from './pool.ts';

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    'at-once': { type: 'string' },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
  },
});

const number = (text: string | undefined, otherwise: number) => {
  const given = Number(text ?? otherwise);
  if (!Number.isFinite(given) || given < 0) throw new Error(`${text} is not a number`);
  return given;
};
const names = targetNames();
const asked = values.target === undefined ? names : values.target.split(',');
const unknown = asked.filter((name) => !names.includes(name));
if (unknown.length > 0)
  throw new Error(`There is no target ${unknown.join(', ')}; there are ${names.join(', ')}`);

const seed = number(values.seed, Date.now() % 2 ** 31);
const seconds =
  values.seconds === undefined ? number(values.minutes, 1) * 60 : number(values.seconds, 60);
const found = path.join(import.meta.dirname, '..', '..', '.build', 'fuzz', 'found.txt');

const write = (line: string) => process.stdout.write(`${line}\n`);

function tell({ target, fault, findings, summary }: Result): void {
  const name = (fault ?? target).padEnd(28);
  if (fault !== null) {
    const [first] = findings;
    write(
      first === undefined
        ? `${name} NOT FOUND`
        : `${name} found after ${first.after.toFixed(1)} s: ${first.kind}: ${first.message.split('\n', 1)[0]}`,
    );
    return;
  }
  if (summary !== null) {
    const { inputs, seconds: took, entered, kept, slowest, heap } = summary;
    write(
      `${name}${took.toFixed(0).padStart(6)} s${String(inputs).padStart(11)} inputs${String(Math.round(inputs / took)).padStart(8)}/s` +
        `${String(entered).padStart(7)} places${String(kept).padStart(6)} kept   slowest ${slowest.milliseconds.toFixed(1)} ms of ${slowest.length} bytes` +
        `   ${heap.toFixed(0)} MiB   ${findings.length} findings`,
    );
  } else write(`${name} ended early, ${findings.length} findings`);
}

/** Writes each finding immediately, because a run may be stopped early. */
function notice({ target, kind, message, input }: Finding): void {
  write(
    `${target}: ${kind}: ${message.split('\n').slice(0, 8).join('\n    ')}\n    ${input.slice(0, 600)}`,
  );
  mkdirSync(path.dirname(found), { recursive: true });
  appendFileSync(found, `# ${target} ${kind}: ${message.split('\n', 1)[0]}\n${input}\n`);
}

const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
write(`seed ${seed}, ${seconds} s each`);
const results = await fuzz({
  targets: asked,
  seconds,
  atOnce: number(values['at-once'], availableParallelism()),
  seed,
  keeps: values.keep,
  signal: ended.signal,
  report: tell,
  ...(values.planted ? {} : { noticed: notice }),
  ...(values.planted ? { faults: FAULTS.filter((fault) => asked.includes(fault.target)) } : {}),
});
const failed = values.planted
  ? results.filter(({ findings }) => findings.length === 0)
  : results.filter(({ findings, summary }) => findings.length > 0 || summary === null);
write(
  failed.length === 0
    ? `${results.length} targets, nothing found that should not be`
    : `${failed.length} of ${results.length} failed`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
