import { RegistrationError } from 'portico';

/** The fields of a record, by name. */
export type Fields = ReadonlyMap<string, unknown>;

/** Reads a string. Returns null if the field is missing. Throws if its value is not a string. */
export function text(fields: Fields, name: string): string | null {
  const value = fields.get(name);
  if (value === undefined) return null;
  if (typeof value !== 'string') throw new RegistrationError(`${name} must be a string`);
  return value;
}

/**
 * Reads a list of strings. Also accepts a list that another server's database stores as a string:
 * JSON, or words separated by spaces or line breaks.
 */
export function list(fields: Fields, name: string): readonly string[] | null {
  const value = fields.get(name);
  if (value === undefined) return null;
  const isText = typeof value === 'string';
  const read = isText && value.trimStart().startsWith('[') ? parsed(value) : value;
  if (typeof read === 'string') return getWords(read);
  if (Array.isArray(read) && read.every((each) => typeof each === 'string')) return read;
  throw new RegistrationError(`${name} must be a list of strings`);
}

function getWords(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Returns the parsed value, or null if the string is not valid JSON. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return null;
  }
}

/** Reads a boolean. Also accepts 1, because some databases have no booleans. */
export function flag(fields: Fields, name: string): boolean {
  const value = fields.get(name);
  if (value === undefined) return false;
  if (value === true || value === 1) return true;
  throw new RegistrationError(`${name} must be true or false`);
}
