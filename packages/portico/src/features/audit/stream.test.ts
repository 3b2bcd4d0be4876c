import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LineStream } from './stream.ts';

let folder: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-stream-'));
  target = path.join(folder, 'audit.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const written = () => readFileSync(target, 'utf8');

test('a line that could not be written at all leaves no empty line before the next one', () => {
  mkdirSync(target);
  const stream = new LineStream(target);
  expect(() => stream.write('lost', false)).toThrow('EISDIR');
  rmdirSync(target);
  stream.write('one', false);
  stream.write('two', false);
  expect(written()).toBe('one\ntwo\n');
});

/** Creates a named pipe. Its reader reads only when `read` is called. */
function pipe() {
  execFileSync('mkfifo', [target]);
  const reader = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(1 << 20);
  return {
    read: () => buffer.toString('utf8', 0, readSync(reader, buffer)),
    close: () => closeSync(reader),
  };
}

test('writing to a pipe without a reader fails at once with an error', () => {
  const { close } = pipe();
  close();
  expect(() => new LineStream(target).write('lost', false)).toThrow('ENXIO');
});

test('the first line waits for a reader that is slow', async () => {
  execFileSync('mkfifo', [target]);
  const program = 'exec 3< "$0"; echo ready; read line; cat <&3';
  const reader = spawn('sh', ['-c', program, target]);
  // Keeps the pipe open, so that the reader can open it.
  const open = openSync(target, constants.O_RDWR | constants.O_NONBLOCK);
  const read: Buffer[] = [];
  reader.stdout.on('data', (piece: Buffer) => read.push(piece));
  await expect.poll(() => Buffer.concat(read).toString()).toBe('ready\n');
  reader.stdin.end('\n');
  new LineStream(target).write('x'.repeat(200_000), false);
  closeSync(open);
  await once(reader, 'close');
  expect(Buffer.concat(read).toString()).toBe(`ready\n${'x'.repeat(200_000)}\n`);
});

test('a reader that stops reading causes one wait, and the partial line is ended before the next', () => {
  const { read, close } = pipe();
  try {
    const stream = new LineStream(target);
    expect(() => stream.write('x'.repeat(200_000), false)).toThrow('EAGAIN');
    // This test would time out if the stream waited for the reader at each of these writes.
    for (let count = 0; count < 30; count += 1)
      expect(() => stream.write('lost', false)).toThrow('EAGAIN');
    expect(read()).toMatch(/^x+$/);
    stream.write('one', false);
    stream.write('two', false);
    expect(read()).toBe('\none\ntwo\n');
  } finally {
    close();
  }
});

/** Returns the number of the next descriptor. It grows if files stay open. */
function nextDescriptor(): number {
  const descriptor = openSync(folder, constants.O_RDONLY);
  closeSync(descriptor);
  return descriptor;
}

test('each line is written to an open file once, and the file is closed', () => {
  const before = nextDescriptor();
  const stream = new LineStream(target);
  for (let count = 0; count < 20; count += 1) stream.write('a line', false);
  expect(written()).toBe('a line\n'.repeat(20));
  expect(nextDescriptor()).toBeLessThan(before + 20);
});

test('a line that broke off is ended in a file that has content', () => {
  const { read, close } = pipe();
  const stream = new LineStream(target);
  expect(() => stream.write('x'.repeat(200_000), false)).toThrow('EAGAIN');
  read();
  close();
  rmSync(target);
  writeFileSync(target, 'the beginning');
  stream.write('one', false);
  expect(written()).toBe('the beginning\none\n');
});

test('the rest of a partial line is not written to the file that replaces the pipe', () => {
  const { read, close } = pipe();
  const stream = new LineStream(target);
  expect(() => stream.write('x'.repeat(200_000), false)).toThrow('EAGAIN');
  read();
  close();
  rmSync(target);
  stream.write('one', false);
  expect(written()).toBe('one\n');
});
