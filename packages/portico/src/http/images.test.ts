import { describe, expect, test } from 'vitest';
import { imageFacts } from './images.ts';

const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part, 'latin1')] : part)),
  );

const PNG = bytes(
  '\x89PNG\r\n\x1a\n',
  [0, 0, 0, 13],
  'IHDR',
  [0, 0, 1, 2, 0, 0, 0, 3],
  [8, 6, 0, 0, 0],
);
const GIF = bytes('GIF89a', [2, 1, 3, 0], [0, 0, 0, 0, 0, 0]);
const JPEG = bytes(
  [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2],
  [0xff, 0xff, 0xc4, 0, 3, 9],
  [0xff, 0xc2, 0, 17, 8, 0, 3, 1, 2],
  [3, 1, 0x22, 0],
);
const RIFF = (chunk: string, ...rest: readonly (readonly number[])[]) =>
  bytes('RIFF', [0, 0, 0, 0], 'WEBP', chunk, [0, 0, 0, 0], ...rest, [0, 0, 0, 0]);
const LOSSY = RIFF('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a], [2, 1, 3, 0]);
/** The four bytes contain the width minus one and the height minus one, each in fourteen bits. */
const LOSSLESS = RIFF('VP8L', [0x2f], [0x01, 0x81, 0x00, 0x00]);
const EXTENDED = RIFF('VP8X', [0, 0, 0, 0], [1, 1, 0, 2, 0, 0]);

describe('the image type in the first bytes', () => {
  test.each([
    ['image/png', PNG],
    ['image/gif', GIF],
    ['image/jpeg', JPEG],
    ['image/webp', LOSSY],
    ['image/webp', LOSSLESS],
    ['image/webp', EXTENDED],
  ])('%s is recognized with its size, at any offset in its buffer', (mediaType, picture) => {
    const behind = new Uint8Array([...new Uint8Array(7), ...picture]).subarray(7);
    expect(imageFacts(behind)).toEqual({ mediaType, width: 258, height: 3 });
  });

  test.each([
    ['nothing', bytes()],
    ['SVG', bytes('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>')],
    ['HTML', bytes('<!doctype html><title>no picture at all</title>')],
    [
      'a PNG of no width',
      bytes('\x89PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR', [0, 0, 0, 0, 0, 0, 0, 3]),
    ],
    [
      'a JPEG without a frame',
      bytes(
        [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xd9],
        Array.from({ length: 20 }, () => 0),
      ),
    ],
    ['text that begins like an image', bytes('GIF8 is how it begins, and no more')],
  ])('%s is not an image', (_, other) => {
    expect(imageFacts(other)).toBeNull();
  });

  test.each([
    ['PNG', PNG, [0, 1, 7, 12, 15]],
    ['GIF', GIF, [0, 4, 5]],
    ['JPEG', JPEG, [0, 1]],
    ['lossy WebP', LOSSY, [0, 3, 8, 11, 12, 15]],
    ['lossless WebP', LOSSLESS, [0, 8, 12, 15]],
    ['extended WebP', EXTENDED, [0, 8, 12, 15]],
  ])('%s with one wrong byte of its signature is not an image', (_, picture, places) => {
    for (const place of places) {
      const wrong = Uint8Array.from(picture);
      wrong[place] = 0x21;
      expect([place, imageFacts(wrong)]).toEqual([place, null]);
    }
  });

  test('an image with a height of zero is not an image', () => {
    const flat = Uint8Array.from(PNG);
    flat[23] = 0;
    expect(imageFacts(flat)).toBeNull();
  });

  test('an extended WebP has a size of up to 24 bits', () => {
    const large = RIFF('VP8X', [0, 0, 0, 0], [1, 2, 3, 4, 5, 6]);
    expect(imageFacts(large)).toMatchObject({ width: 0x03_02_02, height: 0x06_05_05 });
  });

  test.each([
    [0xc0, true],
    [0xcf, true],
    [0xbf, false],
    [0xd0, false],
    [0xc4, false],
    [0xc8, false],
    [0xcc, false],
  ])('the JPEG marker %i begins a frame: %s', (marker, isFrame) => {
    const picture = bytes([0xff, 0xd8, 0xff, marker, 0, 17, 8, 0, 3, 1, 2], [3, 1, 0x22, 0]);
    expect(imageFacts(Uint8Array.from([...picture, ...new Uint8Array(20)])) !== null).toBe(isFrame);
  });

  test('a truncated image is not an image, and causes no error', () => {
    for (const picture of [PNG, JPEG, EXTENDED]) {
      for (let length = 0; length < 20; length += 1) {
        const facts = imageFacts(picture.subarray(0, length));
        expect(facts === null || facts.width === 258).toBe(true);
      }
    }
  });
});
