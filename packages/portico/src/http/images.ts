/**
 * The properties of an image, read from its first bytes. Ignores the file name and the declared
 * type.
 */
export interface ImageFacts {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** The width in pixels. */
  readonly width: number;
  /** The height in pixels. */
  readonly height: number;
}

/**
 * Returns null if the data is not a supported image. SVG is not supported, because it can contain
 * scripts.
 */
export function imageFacts(bytes: Uint8Array): ImageFacts | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return png(view) ?? gif(view) ?? webp(view) ?? jpeg(view);
  } catch (error) {
    // The data ends before the width and the height.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function hasText(view: DataView, offset: number, text: string): boolean {
  return Array.from(text).every(
    (letter, index) => view.getUint8(offset + index) === letter.charCodeAt(0),
  );
}

function facts(
  mediaType: ImageFacts['mediaType'],
  width: number,
  height: number,
): ImageFacts | null {
  return width > 0 && height > 0 ? { mediaType, width, height } : null;
}

/** The size is in the first chunk, IHDR. */
function png(view: DataView): ImageFacts | null {
  if (!hasText(view, 0, '\x89PNG\r\n\x1a\n') || !hasText(view, 12, 'IHDR')) return null;
  return facts('image/png', view.getUint32(16), view.getUint32(20));
}

function gif(view: DataView): ImageFacts | null {
  if (!hasText(view, 0, 'GIF87a') && !hasText(view, 0, 'GIF89a')) return null;
  return facts('image/gif', view.getUint16(6, true), view.getUint16(8, true));
}

/**
 * Reads the lossy, lossless and extended formats (RFC 9649). The size of the extended format is its
 * canvas.
 */
function webp(view: DataView): ImageFacts | null {
  if (!hasText(view, 0, 'RIFF') || !hasText(view, 8, 'WEBP')) return null;
  if (hasText(view, 12, 'VP8 ')) {
    return facts(
      'image/webp',
      view.getUint16(26, true) & 0x3fff,
      view.getUint16(28, true) & 0x3fff,
    );
  }
  if (hasText(view, 12, 'VP8L')) {
    const packed = view.getUint32(21, true);
    return facts('image/webp', (packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1);
  }
  if (!hasText(view, 12, 'VP8X')) return null;
  const canvas = (offset: number) =>
    view.getUint16(offset, true) + (view.getUint8(offset + 2) << 16) + 1;
  return facts('image/webp', canvas(24), canvas(27));
}

/** The first frame contains the size. */
function jpeg(view: DataView): ImageFacts | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  let offset = 2;
  while (view.getUint8(offset) === 0xff) {
    const marker = view.getUint8(offset + 1);
    if (marker === 0xff) {
      offset += 1;
      continue;
    }
    if (isFrame(marker))
      return facts('image/jpeg', view.getUint16(offset + 7), view.getUint16(offset + 5));
    offset += 2 + Math.max(2, view.getUint16(offset + 2));
  }
  return null;
}

/** The markers C0 to CF start a frame, except DHT (C4), JPG (C8) and DAC (CC). */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}
