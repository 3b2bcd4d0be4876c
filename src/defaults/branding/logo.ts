import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

/** A picture of the application's, as it is served. */
export interface LogoFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** By its bytes, whatever its name is. */
  readonly type: string;
  /** Another one when the file is another one. */
  readonly version: string;
}

/** In bytes. */
const LARGEST = 256 * 1024;

const FORMATS: readonly (readonly [type: string, is: (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  [
    'image/webp',
    (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
  ],
  ['image/svg+xml', isSvg],
];

/** What may stand before the root element of a picture, and no entities, which would be text of any size. */
const PROLOGUE =
  /^\ufeff?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<!DOCTYPE\s+svg[^>[]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*/;

function isSvg(bytes: Buffer): boolean {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return false;
  }
  return /^<svg[\s>]/.test(text.replace(PROLOGUE, ''));
}

/** The file, or in a few words why it is no logo. */
export function readLogo(file: string): LogoFile | { readonly problem: string } {
  let bytes: Buffer<ArrayBuffer>;
  try {
    const { size } = statSync(file);
    if (size > LARGEST) return { problem: `${file} has ${size} bytes; ${LARGEST} are the most` };
    bytes = Buffer.from(readFileSync(file));
  } catch (error) {
    return { problem: `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
  const format = FORMATS.find(([, is]) => is(bytes));
  if (format === undefined) return { problem: `${file} is no PNG, SVG, WebP or JPEG` };
  const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  return { bytes: new Uint8Array(bytes), type: format[0], version };
}
