import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { ConsoleContext } from 'portico';

/** The maximum size of a file, in characters. For ASCII text, this is 64 MiB. */
const MOST_CHARACTERS = 67_108_864;

/**
 * Reads the records from a file. If the name is `-`, reads standard input. The input must contain
 * one JSON array, or one JSON document per line. Otherwise ends the command with a one-line
 * message. The message contains no parts of the input, because the input contains secrets.
 */
export async function readRecords(
  context: ConsoleContext,
  file: string,
): Promise<readonly unknown[]> {
  const content = await readAll(context, file);
  if (content.length > MOST_CHARACTERS)
    return context.fail('The input is larger than 64 MiB; split the file');
  const trimmed = content.replace(/^\uFEFF/, '').trim();
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

async function readAll(context: ConsoleContext, file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code = 'unknown' } = error as { readonly code?: string };
    return context.fail(`The file ${file} cannot be read (${code})`);
  }
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
