import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { imageFacts } from '../../http/images.ts';

/** A logo of the application, as it is served. */
export interface LogoFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The media type, from its bytes and not from its name. */
  readonly type: string;
  /** Changes when the file changes. */
  readonly version: string;
}

/** In bytes. */
const LARGEST = 256 * 1024;

/** Image types that suit a page. GIF is left out, because a logo need not move. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);

function readType(bytes: Uint8Array): string | null {
  if (isSvg(bytes)) return 'image/svg+xml';
  const mediaType = imageFacts(bytes)?.mediaType ?? '';
  return PICTURES.has(mediaType) ? mediaType : null;
}

/**
 * What may come before the root element of an SVG. Entities are not allowed, because they expand to
 * text of any size.
 */
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

/** The file, or why it cannot be a logo, in a few words. */
export function readLogo(file: string): LogoFile | { readonly problem: string } {
  let bytes: Buffer<ArrayBuffer>;
  try {
    const { size } = statSync(file);
    if (size > LARGEST) return { problem: `${file} has ${size} bytes; ${LARGEST} are the most` };
    bytes = Buffer.from(readFileSync(file));
  } catch (error) {
    return { problem: `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
  const type = readType(bytes);
  if (type === null) return { problem: `${file} is not a PNG, SVG, WebP or JPEG` };
  const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  return { bytes: new Uint8Array(bytes), type, version };
}
