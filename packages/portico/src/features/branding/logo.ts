import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { imageFacts } from '../../http/images.ts';

export interface LogoFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Detected from the content of the file, not from its name. */
  readonly type: string;
  /** Changes when the file changes. */
  readonly version: string;
}

/** The maximum size of a logo, in bytes. */
const LARGEST = 256 * 1024;

/** GIF is not accepted, because logos do not need animation. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);

function readType(bytes: Uint8Array): string | null {
  if (isSvg(bytes)) return 'image/svg+xml';
  const mediaType = imageFacts(bytes)?.mediaType ?? '';
  return PICTURES.has(mediaType) ? mediaType : null;
}

/**
 * Matches everything before the root element of an SVG. Refuses entity declarations, because an
 * entity can expand to any length.
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

/** Reads the logo. If the file cannot be a logo, returns a short text that says why. */
export function readLogo(file: string): LogoFile | { readonly problem: string } {
  let bytes: Buffer<ArrayBuffer>;
  try {
    const { size } = statSync(file);
    if (size > LARGEST)
      return { problem: `${file} is too large: ${size} bytes; the maximum is ${LARGEST}` };
    bytes = Buffer.from(readFileSync(file));
  } catch (error) {
    return {
      problem: `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  const type = readType(bytes);
  if (type === null) return { problem: `${file} is not a PNG, SVG, WebP or JPEG` };
  const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  return { bytes: new Uint8Array(bytes), type, version };
}
