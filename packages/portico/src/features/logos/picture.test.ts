import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { FetchImage } from '../../http/outbound/fetch-json.ts';
import { namedLogo, type NamedLogo } from '../../clients/logos.ts';
import { checkLogo, LARGEST_LOGO, getPicture } from './picture.ts';

const ADDRESS = 'https://client.example/logo';

/** Returns a picture with this size in pixels, and this length in bytes. */
function gif(width: number, height: number, length = 10): Uint8Array {
  const bytes = Buffer.alloc(length);
  bytes.write('GIF89a', 'latin1');
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
}

const refusal = (message: string) =>
  expect.objectContaining({ name: 'RegistrationError', message }) as Error;
const nothing: FetchImage = () => Promise.reject(new Error('Nothing is fetched'));
const fetchedBy = (fetchImage: FetchImage) => ({
  path: '/oauth/logo',
  pictureOf: (named: NamedLogo) => getPicture(named, fetchImage),
});

describe('a logo of a client', () => {
  test('is stored with its hash and type', () => {
    const bytes = gif(48, 32);
    const logo = checkLogo(bytes);
    expect(logo).toEqual({
      hash: createHash('sha256').update(bytes).digest('base64url'),
      mediaType: 'image/gif',
      bytes: Uint8Array.from(bytes),
    });
    expect(logo.bytes).not.toBe(bytes);
    expect(checkLogo(gif(512, 512, 65_536)).bytes).toHaveLength(65_536);
  });

  test.each([
    [gif(8, 8, 65_537), 'The logo is larger than 64 KB'],
    [gif(513, 8), 'The logo is 513 × 8 pixels; the maximum is 512 × 512'],
    [gif(8, 513), 'The logo is 8 × 513 pixels; the maximum is 512 × 512'],
    [Buffer.from('<svg/>'), 'The logo is not a PNG, JPEG, GIF or WebP image'],
    [new Uint8Array(), 'The logo is not a PNG, JPEG, GIF or WebP image'],
  ])('must have a supported size and image type: %#', (bytes, problem) => {
    expect(() => checkLogo(bytes)).toThrow(refusal(problem));
  });

  test('is optional, and is refused if logos are disabled', async () => {
    expect(await namedLogo({}, fetchedBy(nothing))).toBeUndefined();
    expect(await namedLogo({}, null)).toBeUndefined();
    const off = refusal('oauth_server:client_logos is off; set it to true first');
    await expect(namedLogo({ logo: gif(8, 8) }, null)).rejects.toThrow(off);
    await expect(namedLogo({ logoUri: ADDRESS }, null)).rejects.toThrow(off);
    expect(await namedLogo({ logo: gif(8, 8) }, fetchedBy(nothing))).toEqual(checkLogo(gif(8, 8)));
    await expect(
      namedLogo({ logo: gif(8, 8), logoUri: ADDRESS }, fetchedBy(nothing)),
    ).rejects.toThrow(refusal('Pass the logo either as an image or as a URL, not both'));
  });

  test('of an operator client is fetched once from its URL, and validated like any other', async () => {
    const asked: unknown[] = [];
    const fetchImage: FetchImage = async (url, about) => {
      asked.push([url.href, about]);
      return url.href === ADDRESS ? gif(8, 8) : gif(513, 8);
    };
    expect(await namedLogo({ logoUri: ADDRESS }, fetchedBy(fetchImage))).toEqual(
      checkLogo(gif(8, 8)),
    );
    expect(asked).toEqual([[ADDRESS, { limit: LARGEST_LOGO, person: 'operator', isKnown: false }]]);
    await expect(namedLogo({ logoUri: `${ADDRESS}/large` }, fetchedBy(fetchImage))).rejects.toThrow(
      '513 × 8 pixels',
    );
  });

  test('that cannot be fetched is refused, with the reason', async () => {
    await expect(namedLogo({ logoUri: 'none' }, fetchedBy(nothing))).rejects.toThrow(
      refusal('The URL of the logo is not valid'),
    );
    await expect(namedLogo({ logoUri: `${ADDRESS} a` }, fetchedBy(nothing))).rejects.toThrow(
      'The URL of the logo has the character U+0020',
    );
    const cause = new Error('nobody is there');
    const failing = namedLogo(
      { logoUri: ADDRESS },
      fetchedBy(() => Promise.reject(cause)),
    );
    await expect(failing).rejects.toThrow(refusal('The logo cannot be fetched: nobody is there'));
    await expect(failing).rejects.toMatchObject({ cause });
    const odd = namedLogo(
      { logoUri: ADDRESS },
      fetchedBy(() => Promise.reject('odd')),
    );
    await expect(odd).rejects.toThrow(refusal('The logo cannot be fetched: odd'));
  });
});
