import type { ConfigurationProblem } from '@portico/sql';
import { z } from 'zod';

/** A valid directory listing: the `en-US` entry in the vendor's add-on schema. */
export type Listing = Readonly<Record<string, unknown>>;

/**
 * Returns every problem with `assistant:listing`, each with the path of the setting. An empty list
 * means that the listing can be exported. Does not fetch the images.
 *
 * @example
 * for (const { key, message } of listingProblems(listing)) console.error(key, message);
 */
export function listingProblems(listing: unknown): readonly ConfigurationProblem[] {
  if (!isMap(listing)) {
    return [
      {
        key: 'assistant:listing',
        message: 'is missing; for an example, see docs/voice-assistant.md',
      },
    ];
  }
  const issues = listingSchema.safeParse(listing).error?.issues ?? [];
  return issues.map(({ path, message }) => ({
    key: ['assistant:listing', ...path].join(':'),
    message,
  }));
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Returns the number of characters as people see them (grapheme clusters). For example, a flag is
 * one character, and so is a letter with accents.
 */
export function countCharacters(text: string): number {
  return [...graphemes.segment(text)].length;
}

const ICON_SIZES = [64, 72, 88, 126, 180, 241] as const;
const CAROUSEL_SIZE = '600x900';
const BANNER_SIZE = '1200x600';
const IMAGE_PATH = /\.(?:png|jpe?g|webp)$/i;

/**
 * Treats a value that is missing or is not a map as an empty map, so that the check reports a
 * problem for each missing value.
 */
function section<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.preprocess((value) => (isMap(value) ? value : {}), z.object(shape));
}

function text(longest: number) {
  const error = `must be a string of 1 to ${longest} characters`;
  return z
    .string({ error })
    .refine((value) => value.trim() !== '' && countCharacters(value) <= longest, {
      error: ({ input }) => {
        const value = String(input);
        return value.trim() === ''
          ? error
          : `has ${countCharacters(value)} characters; the maximum is ${longest}`;
      },
    });
}

/**
 * Matches strings that begin with `https://`. A URL parser would also accept and correct
 * `https:kitchen.example`, but the vendor receives the URL as written.
 */
const WRITTEN_HTTPS = /^https:\/\/[^\s\\]+$/i;

/**
 * Returns the parsed URL if it uses https and has no credentials. Otherwise, returns null. Does not
 * check the host, because every https URL has one.
 */
function parseHttps(value: string): URL | null {
  if (!WRITTEN_HTTPS.test(value) || !URL.canParse(value)) return null;
  const url = new URL(value);
  return url.username === '' && url.password === '' ? url : null;
}

const NO_HTTPS = 'must be an https URL';
const httpsUrl = z
  .string({ error: NO_HTTPS })
  .refine((value) => parseHttps(value) !== null, NO_HTTPS);

const NO_IMAGE = 'must be an https URL whose path ends in .png, .jpg, .jpeg or .webp';
const imageUri = z.string({ error: NO_IMAGE }).refine((value) => {
  const url = parseHttps(value);
  return url !== null && IMAGE_PATH.test(url.pathname);
}, NO_IMAGE);

/**
 * Whether the value is a list. If it is, the checks of the whole list run even if some items are
 * invalid.
 */
function isList({ value }: { readonly value: unknown }): boolean {
  return Array.isArray(value);
}

/**
 * Returns the side length of a square icon. The size is a number, or a string such as `72x72`.
 * Returns null for any other value.
 */
function iconSize(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const side = /^(\d+)x\1$/.exec(String(value))?.[1];
  return side === undefined ? null : Number(side);
}

const icon = section({
  size: z.preprocess(
    iconSize,
    z.literal(ICON_SIZES, { error: `must be one of ${ICON_SIZES.join(', ')}` }),
  ),
  uri: imageUri,
});

const icons = z
  .array(icon, { error: 'must be a list of icons, each an object { size, uri }' })
  .superRefine(
    (list, context) => {
      const sizes = list.map(({ size }) => size);
      for (const [index, size] of sizes.entries()) {
        if (ICON_SIZES.includes(size) && sizes.indexOf(size) !== index) {
          context.addIssue({
            code: 'custom',
            path: [index, 'size'],
            message: `repeats the size ${size}`,
          });
        }
      }
      const missing = ICON_SIZES.filter((size) => !sizes.includes(size));
      if (missing.length > 0) {
        context.addIssue({
          code: 'custom',
          message: `also needs icons in these sizes: ${missing.join(', ')}`,
        });
      }
    },
    { when: isList },
  );

function images(size: string) {
  const image = section({
    size: z.literal(size, { error: `must be "${size}"` }),
    uri: imageUri,
    altText: text(250),
  });
  return z.array(image, {
    error: 'must be a list of images, each an object { size, uri, altText }',
  });
}

const PHRASES = 'must be a list of 3 or 4 phrases';

const listingSchema = z.object({
  name: section({ value: text(30) }),
  shortDescription: text(123),
  fullDescription: text(4000),
  examplePhrases: z
    .array(text(200), { error: PHRASES })
    .refine(({ length }) => length === 3 || length === 4, { error: PHRASES, when: isList }),
  privacyAndCompliance: section({ privacyPolicyUrl: httpsUrl, termsOfUseUrl: httpsUrl }),
  mediaAssets: section({
    icons: section({ light: icons, dark: icons.optional() }),
    carouselImages: images(CAROUSEL_SIZE).refine(({ length }) => length > 0, {
      error: `must contain at least one ${CAROUSEL_SIZE} image`,
      when: isList,
    }),
    bannerImages: images(BANNER_SIZE).optional(),
  }),
});

// --- the export ----------------------------------------------------------------------------------

/**
 * Returns the manifest of the add-on (version 1.0): the listing and the URL of the MCP endpoint. It
 * contains no credentials. Does not check the listing: call `listingProblems` first.
 *
 * @example
 * const manifest = addonManifest(listing, 'https://app.example/mcp');
 */
export function addonManifest(
  listing: Listing,
  resource: string,
): Readonly<Record<string, unknown>> {
  return {
    manifestVersion: '1.0',
    storeListing: {
      distributionCountries: ['US'],
      locales: { 'en-US': withTextSizes(listing) },
    },
    integrations: [
      { type: 'MCP', config: { endpoints: { default: { type: 'HTTPS', uri: resource } } } },
    ],
  };
}

/**
 * Converts the icon sizes to strings, as the vendor's format requires. For example, 72 becomes
 * "72x72".
 */
function withTextSizes(listing: Listing): Listing {
  const { mediaAssets: media } = listing;
  if (!isMap(media) || !isMap(media['icons'])) return listing;
  const themes = Object.entries(media['icons']).map(([theme, list]) => [
    theme,
    Array.isArray(list) ? (list as readonly unknown[]).map(withTextSize) : list,
  ]);
  return { ...listing, mediaAssets: { ...media, icons: Object.fromEntries(themes) as unknown } };
}

function withTextSize(icon: unknown): unknown {
  if (!isMap(icon)) return icon;
  const size = iconSize(icon['size']);
  return size === null ? icon : { ...icon, size: `${size}x${size}` };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
