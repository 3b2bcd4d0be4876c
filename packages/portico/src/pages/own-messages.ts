import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ConfigurationProblem } from '@portico/sql';
import { canonicalTag } from './language-ranges.ts';
import {
  getForms,
  getPlaceholders,
  PLURAL_CATEGORIES,
  type Catalog,
  type Message,
} from './message.ts';

/** The messages in an application's files, and the problems in these files. */
export interface OwnMessages {
  /** The messages of each language, by tag. */
  readonly languages: ReadonlyMap<string, Catalog>;
  /** The key of a problem is the path of the file. */
  readonly problems: readonly ConfigurationProblem[];
}

const SUFFIX = '.json';

/**
 * Reads the files `<tag>.json` in a folder. Their keys and placeholders must match the known
 * messages. Returns no messages if the folder does not exist.
 */
export function readOwnMessages(folder: string | null, known: Catalog): OwnMessages {
  const languages = new Map<string, Catalog>();
  const problems: ConfigurationProblem[] = [];
  for (const name of folder === null ? [] : listFiles(folder)) {
    const file = path.join(folder ?? '', name);
    const tag = canonicalTag(name.slice(0, -SUFFIX.length));
    if (tag === null) {
      problems.push({
        key: file,
        message: 'its name is not a language tag (BCP 47), such as de.json',
      });
      continue;
    }
    const read = readCatalog(file);
    if (typeof read === 'string') {
      problems.push({ key: file, message: read });
      continue;
    }
    problems.push(...catalogProblems(read, known).map((message) => ({ key: file, message })));
    languages.set(tag, read as Catalog);
  }
  return { languages, problems };
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(SUFFIX))
      .toSorted();
  } catch {
    return [];
  }
}

/** Returns the messages, or why the file cannot be read. */
function readCatalog(file: string): Readonly<Record<string, unknown>> | string {
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isRecord(read) ? read : 'must be a JSON object with message keys and their texts';
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Each problem starts with the key of the message. A missing message is no problem. */
export function catalogProblems(
  messages: Readonly<Record<string, unknown>>,
  known: Catalog,
): readonly string[] {
  return Object.entries(messages).flatMap(([key, message]) => {
    const meant = Object.hasOwn(known, key) ? known[key] : undefined;
    if (meant === undefined) return [`${key}: there is no message with this key`];
    if (!isMessage(message)) {
      return [
        `${key}: must be a string, or an object with a string for each plural category, ` +
          'including other',
      ];
    }
    return placeholderProblems(message, meant).map((problem) => `${key}: ${problem}`);
  });
}

function isMessage(value: unknown): value is Message {
  if (!isRecord(value)) return typeof value === 'string';
  return (
    Object.hasOwn(value, 'other') &&
    Object.entries(value).every(
      ([category, text]) => PLURAL_CATEGORIES.includes(category) && typeof text === 'string',
    )
  );
}

/** Only plural forms other than `other` may leave out `{count}`. */
function placeholderProblems(message: Message, meant: Message): readonly string[] {
  const expected = new Set(getForms(meant).flatMap((text) => [...getPlaceholders(text)]));
  const whole = typeof message === 'string' ? message : message.other;
  const missing = [
    ...[...expected].filter((name) => !getPlaceholders(whole).has(name)),
    ...getForms(message).flatMap((text) =>
      [...expected].filter((name) => name !== 'count' && !getPlaceholders(text).has(name)),
    ),
  ];
  const unknown = getForms(message).flatMap((text) =>
    [...getPlaceholders(text)].filter((name) => !expected.has(name)),
  );
  return [
    ...[...new Set(missing)].map((name) => `the placeholder {${name}} is missing`),
    ...[...new Set(unknown)].map(
      (name) => `the placeholder {${name}} does not exist in this message`,
    ),
  ];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
