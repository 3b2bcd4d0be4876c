import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readLogo } from '../../../packages/portico/src/features/branding/logo.ts';
import { imageFacts } from '../../../packages/portico/src/http/images.ts';
import { checkLogo } from '../../../packages/portico/src/features/logos/picture.ts';
import { RegistrationError } from '../../../packages/portico/src/errors.ts';
import { scratch } from '../support/scratch.ts';
import { hold, unless, type Target } from '../target.ts';

const be = (number: number, bytes: number) =>
  Buffer.from(number.toString(16).padStart(2 * bytes, '0'), 'hex');
const png = Buffer.concat([
  Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
  be(13, 4),
  Buffer.from('IHDR'),
  be(64, 4),
  be(32, 4),
  Buffer.from([8, 6, 0, 0, 0]),
]);
const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([64, 0, 32, 0, 0, 0, 0])]);
const jpeg = Buffer.from([
  0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc0, 0, 11, 8, 0, 32, 0, 64, 1, 1, 17, 0,
]);
const webp = (kind: string, rest: number[]) =>
  Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.from(kind), Buffer.from(rest)]);
const zeros = (count: number) => Array.from({ length: count }, () => 0);

/** Returns the format by a second implementation of the rules for `imageFacts`. */
function marks(bytes: Buffer): string | null {
  const text = bytes.toString('latin1', 0, 16);
  if (text.startsWith('\u0089PNG\r\n\u001a\n') && text.slice(12) === 'IHDR') return 'image/png';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  if (text.startsWith('RIFF') && /^WEBPVP8[ LX]/.test(text.slice(8))) return 'image/webp';
  return text.startsWith('\u00FF\u00D8\u00FF') ? 'image/jpeg' : null;
}

export const target: Target = {
  about: 'the bytes of logos: PNG, GIF, WebP, JPEG, SVG',
  seeds: [
    png,
    gif,
    jpeg,
    webp('VP8 ', [...zeros(10), 64, 0, 32, 0]),
    webp('VP8L', [...zeros(4), 0x2f, 63, 192, 7, 0]),
    webp('VP8X', [...zeros(8), 63, 0, 0, 31, 0, 0]),
    '<?xml version="1.0"?>\n<!-- a --><!DOCTYPE svg PUBLIC "x">\n<!-- b -->\n<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>',
    '\u{FEFF}<svg>',
    '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>',
  ],
  dictionary: [
    '\u0089PNG\r\n',
    'IHDR',
    'GIF87a',
    'RIFF',
    'WEBP',
    'VP8 ',
    'VP8L',
    'VP8X',
    '<svg',
    '<!--',
    '-->',
    '<?xml',
    '?>',
    '<!DOCTYPE svg',
    '>',
    ' ',
    '<',
    '\n',
  ],
  longest: 66_000,
  start() {
    const file = path.join(scratch(), 'logo');
    return (input) => {
      const facts = imageFacts(input);
      if (facts !== null) {
        hold(facts.mediaType === marks(input), 'a picture of another kind');
        hold(facts.width > 0 && facts.height > 0, 'a picture without a size');
        // The size is in the first bytes, so bytes after them must not change anything.
        hold(
          JSON.stringify(imageFacts(Buffer.concat([input, Buffer.from('tail')]))) ===
            JSON.stringify(facts),
          'the size depends on what follows',
        );
      }
      const logo = unless(
        (error) => error instanceof RegistrationError,
        () => checkLogo(input),
      );
      if (logo !== null)
        hold(
          input.length <= 65_536 &&
            logo.bytes.length === input.length &&
            facts !== null &&
            facts.width <= 512,
          'a large picture was taken',
        );
      writeFileSync(file, input);
      const read = readLogo(file);
      if ('problem' in read) return;
      hold(
        ['image/png', 'image/jpeg', 'image/webp', 'image/svg+xml'].includes(read.type),
        'a file of another kind is served',
      );
      const text = input.toString('utf8');
      if (read.type === 'image/svg+xml')
        hold(
          text.includes('<svg') && !/^\s*<!DOCTYPE[^>]*\[/.test(text),
          'something else is served as SVG',
        );
    };
  },
};
