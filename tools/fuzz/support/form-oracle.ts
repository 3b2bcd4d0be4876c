/**
 * Returns the pairs of a form, or null for bytes that are not UTF-8. This is a second
 * implementation of WHATWG URL section 5.1.
 */
export function formPairs(sent: Buffer): readonly (readonly [string, string])[] | null {
  const strict = new TextDecoder('utf-8', { fatal: true });
  let text: string;
  try {
    // A byte order mark at the start of a body is not part of its text (Fetch, "text()").
    text = strict.decode(sent);
  } catch {
    return null;
  }
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return bytes
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
      return [decoded(name), decoded(value)] as const;
    });
}

const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

function decoded(part: string): string {
  const bytes: number[] = [];
  for (let at = 0; at < part.length; at += 1) {
    const hex = part.slice(at + 1, at + 3);
    if (part[at] === '+') bytes.push(0x20);
    else if (part[at] === '%' && /^[0-9A-Fa-f]{2}$/.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      at += 2;
    } else bytes.push(part.charCodeAt(at));
  }
  return lenient.decode(Buffer.from(bytes));
}
