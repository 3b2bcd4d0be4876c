/**
 * Writes the bytes of an input as a line of a file. Printable ASCII stays unchanged, except that
 * `\` is doubled. Every other byte becomes `\xNN`.
 */
export function asLine(input: Uint8Array): string {
  return Buffer.from(input)
    .toString('latin1')
    .replaceAll(/[^\x20-\x5B\x5D-\x7E]/g, (each) =>
      each === '\\'
        ? String.raw`\\`
        : each === '\n'
          ? String.raw`\n`
          : String.raw`\x` + each.charCodeAt(0).toString(16).padStart(2, '0'),
    );
}

/** Returns the bytes of a line. */
export function fromLine(line: string): Buffer {
  const text = line.replaceAll(/\\(?:\\|n|x([0-9a-f]{2}))/g, (each, hex: string | undefined) =>
    hex === undefined
      ? each === String.raw`\n`
        ? '\n'
        : '\\'
      : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(text, 'latin1');
}
