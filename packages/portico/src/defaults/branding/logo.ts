import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { imageFacts } from '../../http/images.ts';

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

/** Those of pictures that a page shows at their best; a logo has no need to move. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);

function typeOf(bytes: Uint8Array): string | null {
  if (isSvg(bytes)) return 'image/svg+xml';
  const mediaType = imageFacts(bytes)?.mediaType ?? '';
  return PICTURES.has(mediaType) ? mediaType : null;
}

/** What may stand before the root element of a picture, and no entities, which would be text of any size. */
const PROLOGUE =
  /^\ufeff?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<!DOCTYPE\s+svg[^>[]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*/;

function isSvg(bytes: Uint8Array): boolean {
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
  const type = typeOf(bytes);
  if (type === null) return { problem: `${file} is no PNG, SVG, WebP or JPEG` };
  const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  return { bytes: new Uint8Array(bytes), type, version };
}
