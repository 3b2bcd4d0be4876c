const BASE64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;
const ENCODED = /^=\?base64\?.*\?=$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A header field that repeats a text of the body, as it was meant (MCP 2026-07-28, Value Encoding); null for one that is malformed. */
export function decoded(field: string | null): string | null {
  if (field === null || !ENCODED.test(field)) return field;
  const [, text] = BASE64.exec(field) ?? [];
  if (text === undefined) return null;
  try {
    return UTF8.decode(Buffer.from(text, 'base64'));
  } catch {
    return null;
  }
}
