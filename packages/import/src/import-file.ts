import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { ConsoleContext } from 'portico';

/** The maximum size of the input, in characters. This is 64 MiB of ASCII text. */
const MOST_CHARACTERS = 67_108_864;

/**
 * Reads the records from a file, or from standard input if the name is `-`. The input must contain
 * one JSON array, or one JSON document per line. If the input is invalid, ends the command with a
 * one-line message. The message contains no part of the input, which may contain secrets.
 */
export async function readRecords(
  context: ConsoleContext,
  file: string,
): Promise<readonly unknown[]> {
  const trimmed = textOf(context, await readAll(context, file)).trim();
  const records = trimmed.startsWith('[')
    ? parse(context, trimmed, 'The input')
    : trimmed
        .split('\n')
        .map((line, at) => [line.trim(), at + 1] as const)
        .filter(([line]) => line !== '')
        .map(([line, at]) => parse(context, line, `Line ${at}`));
  if (!Array.isArray(records) || records.length === 0)
    return context.fail('The input has no records');
  return records;
}

async function readAll(context: ConsoleContext, file: string): Promise<Uint8Array> {
  if (file === '-') return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    const { code = 'unknown' } = error as { readonly code?: string };
    return context.fail(`The file ${file} cannot be read (${code})`);
  }
}

function textOf(context: ConsoleContext, bytes: Uint8Array): string {
  const tooLarge = () => context.fail('The input is larger than 64 MiB; split the file');
  // In UTF-8, each character of a string takes at most three bytes. A surrogate pair is two
  // characters of the string.
  if (bytes.length > 3 * MOST_CHARACTERS) return tooLarge();
  let content: string;
  try {
    content = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return context.fail('The input is not UTF-8; convert the file');
  }
  return content.length > MOST_CHARACTERS ? tooLarge() : content;
}

function parse(context: ConsoleContext, json: string, what: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return context.fail(
      `${what} is not valid JSON. The file must contain one JSON array, or one JSON object ` +
        'per line',
    );
  }
}
