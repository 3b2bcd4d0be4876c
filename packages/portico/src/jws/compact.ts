/** A JWS in its compact form (RFC 7515 section 7.1), read strictly and with bounds; nothing of it is proved yet. */
export interface Jws {
  readonly header: JsonObject;
  readonly payload: JsonObject;
  /** What is signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** What was offered cannot be read, or does not prove what it should; the message says why, for the log, and repeats nothing of it. */
export class JwsError extends Error {
  override readonly name = 'JwsError';
}

/** In characters, before anything is parsed. A signature of RSA with 4,096 bits has 683. */
const LONGEST = { header: 4096, payload: 8192, signature: 700 } as const;

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Throws a JwsError for anything else. */
export function parseJws(text: string): Jws {
  if (text.length > LONGEST.header + LONGEST.payload + LONGEST.signature + 2)
    throw new JwsError('it is too long');
  const [header = '', payload = '', signature = '', ...more] = text.split('.');
  if (more.length > 0) throw new JwsError('it has more than three parts');
  const parsedHeader = parseObject('header', header);
  // A critical extension that is not understood has to be refused, and none is (RFC 7515 section 4.1.11).
  if (Object.hasOwn(parsedHeader, 'crit')) throw new JwsError('its header has crit');
  return {
    header: parsedHeader,
    payload: parseObject('payload', payload),
    signed: Buffer.from(`${header}.${payload}`),
    signature: decode('signature', signature),
  };
}

function decode(part: keyof typeof LONGEST, text: string): Buffer {
  if (text.length > LONGEST[part]) throw new JwsError(`its ${part} is too long`);
  const bytes = Buffer.from(text, 'base64url');
  if (!BASE64URL.test(text) || bytes.toString('base64url') !== text) {
    throw new JwsError(`its ${part} is missing or no base64url`);
  }
  return bytes;
}

function parseObject(part: 'header' | 'payload', text: string): JsonObject {
  const json = readText(part, decode(part, text));
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new JwsError(`its ${part} is no JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new JwsError(`its ${part} is no JSON object`);
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

/** Strings, brackets, and what separates; whatever else JSON has lies between these. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/**
 * Whether the object of this JSON text, which parses, has a name twice: of two such members parsers take one or the other (RFC 7519
 * section 4), and whoever reads it next may take the other one.
 */
function hasRepeatedName(json: string): boolean {
  const names = new Set<string>();
  let depth = 0;
  let last = '';
  for (const [token] of json.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token === ':' && depth === 1) {
      const name = JSON.parse(last) as string;
      if (names.has(name)) return true;
      names.add(name);
    }
    last = token;
  }
  return false;
}
