/** A parsed JWS in compact form (RFC 7515 section 7.1). Its signature is not verified yet. */
export interface Jws {
  readonly header: JsonObject;
  readonly payload: JsonObject;
  /** The bytes that the signature covers. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Thrown if a string is not a valid JWS, or if a check of it fails. The message is for the log and
 * contains nothing from the string.
 */
export class JwsError extends Error {
  override readonly name = 'JwsError';
}

/** The maximum length of each part, in characters. Checked before parsing. */
type Limits = Readonly<Record<'header' | 'payload' | 'signature', number>>;

/** The limits for JWTs of other parties. A 4096-bit RSA signature has 683 characters. */
const LONGEST: Limits = { header: 4096, payload: 8192, signature: 700 };

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * Parses a JWS strictly. Throws a JwsError if the text is too long or is not a JWS. Also throws if
 * a JSON object has two members with the same name.
 */
export function parseJws(text: string, longest = LONGEST): Jws {
  if (text.length > longest.header + longest.payload + longest.signature + 2)
    throw new JwsError('it is too long');
  const [header = '', payload = '', signature = '', ...more] = text.split('.');
  if (more.length > 0) throw new JwsError('it has more than three parts');
  const parsedHeader = parseObject('header', header, longest);
  // Portico supports no critical extension (RFC 7515 section 4.1.11).
  if (Object.hasOwn(parsedHeader, 'crit'))
    throw new JwsError('its header has crit, which is not accepted');
  return {
    header: parsedHeader,
    payload: parseObject('payload', payload, longest),
    signed: Buffer.from(`${header}.${payload}`),
    signature: decode('signature', signature, longest),
  };
}

function decode(part: keyof Limits, text: string, longest: Limits): Buffer {
  if (text.length > longest[part]) throw new JwsError(`its ${part} is too long`);
  const bytes = Buffer.from(text, 'base64url');
  if (!BASE64URL.test(text) || bytes.toString('base64url') !== text) {
    throw new JwsError(`its ${part} is missing or not base64url`);
  }
  return bytes;
}

function parseObject(part: 'header' | 'payload', text: string, longest: Limits): JsonObject {
  const json = readText(part, decode(part, text, longest));
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new JwsError(`its ${part} is not JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new JwsError(`its ${part} is not a JSON object`);
  }
  if (hasRepeatedName(json)) throw new JwsError(`its ${part} has a member twice`);
  return value as JsonObject;
}

function readText(part: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new JwsError(`its ${part} is not UTF-8`);
  }
}

/** Matches the strings, brackets and colons of JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * Returns true if an object in this valid JSON has two members with the same name. Parsers differ
 * in which of them they use (RFC 7519 section 4).
 */
function hasRepeatedName(json: string): boolean {
  /** The names in each object or list that has not ended yet, from the outermost inward. */
  const open: Set<string>[] = [];
  let last = '';
  for (const [token] of json.matchAll(TOKENS)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const name = JSON.parse(last) as string;
      if (open.at(-1)?.has(name) === true) return true;
      open.at(-1)?.add(name);
    }
    last = token;
  }
  return false;
}
