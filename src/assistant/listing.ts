import type { ConfigurationProblem } from '../host/contracts.ts';

/** Listing metadata, checked: the `en-US` entry of the vendor's add-on schema. */
export type Listing = Readonly<Record<string, unknown>>;

/** Each check adds what is wrong under a path; none of them stops at the first. */
type Report = (path: string, message: string) => void;

const ICON_SIZES = [64, 72, 88, 126, 180, 241] as const;
const CAROUSEL_SIZE = '600x900';
const BANNER_SIZE = '1200x600';
const IMAGE_PATH = /\.(?:png|jpe?g|webp)$/i;

/** All that is wrong with `assistant:listing`, each with its path; empty when it can be exported. Reads no image. */
export function listingProblems(listing: unknown): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const report: Report = (path, message) => problems.push({ key: `assistant:listing${path}`, message });
  if (!isMap(listing)) {
    report('', 'is missing; docs/voice-assistant.md shows one');
    return problems;
  }
  checkText(report, ':name:value', at(listing, 'name', 'value'), 30);
  checkText(report, ':shortDescription', listing['shortDescription'], 123);
  checkText(report, ':fullDescription', listing['fullDescription'], 4000);
  checkPhrases(report, listing['examplePhrases']);
  for (const name of ['privacyPolicyUrl', 'termsOfUseUrl']) {
    checkHttps(report, `:privacyAndCompliance:${name}`, at(listing, 'privacyAndCompliance', name));
  }
  checkIcons(report, ':mediaAssets:icons:light', at(listing, 'mediaAssets', 'icons', 'light'));
  const dark = at(listing, 'mediaAssets', 'icons', 'dark');
  if (dark !== undefined) checkIcons(report, ':mediaAssets:icons:dark', dark);
  const carousel = at(listing, 'mediaAssets', 'carouselImages');
  checkImages(report, ':mediaAssets:carouselImages', carousel, CAROUSEL_SIZE);
  if (Array.isArray(carousel) && carousel.length === 0) {
    report(':mediaAssets:carouselImages', `needs at least one image of ${CAROUSEL_SIZE}`);
  }
  const banners = at(listing, 'mediaAssets', 'bannerImages');
  if (banners !== undefined) checkImages(report, ':mediaAssets:bannerImages', banners, BANNER_SIZE);
  return problems;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters as a person counts them: a flag, or a letter with its accents, is one. */
export function lengthOf(text: string): number {
  return [...graphemes.segment(text)].length;
}

function checkText(report: Report, path: string, value: unknown, longest: number): void {
  if (typeof value !== 'string' || value.trim() === '') {
    return report(path, `must be a text of 1 to ${longest} characters`);
  }
  const length = lengthOf(value);
  if (length > longest) report(path, `has ${length} characters; ${longest} at most`);
}

function checkPhrases(report: Report, value: unknown): void {
  const path = ':examplePhrases';
  if (!Array.isArray(value) || value.length < 3 || value.length > 4) {
    report(path, 'must be a list of 3 or 4 phrases');
  }
  const phrases: readonly unknown[] = Array.isArray(value) ? value : [];
  for (const [index, phrase] of phrases.entries()) checkText(report, `${path}:${index}`, phrase, 200);
}

/** What the parser mends, such as `https:kitchen.example`, the vendor is given as it was written. */
const WRITTEN_HTTPS = /^https:\/\/[^\s\\]+$/i;

/** The URL, when it is an https one with a host and without credentials. */
function httpsUrl(value: unknown): URL | null {
  if (typeof value !== 'string' || !WRITTEN_HTTPS.test(value) || !URL.canParse(value)) return null;
  const url = new URL(value);
  return url.hostname !== '' && url.username === '' && url.password === '' ? url : null;
}

function checkHttps(report: Report, path: string, value: unknown): void {
  if (httpsUrl(value) === null) report(path, 'must be an https URL');
}

function checkIcons(report: Report, path: string, value: unknown): void {
  if (!Array.isArray(value)) return report(path, `must be a list of icons { size, uri }`);
  const icons: readonly unknown[] = value;
  const sizes = icons.map((icon) => (isMap(icon) ? iconSize(icon['size']) : null));
  for (const [index, icon] of icons.entries()) {
    const size = sizes[index] ?? null;
    if (size === null || !ICON_SIZES.some((known) => known === size)) {
      report(`${path}:${index}:size`, `must be one of ${ICON_SIZES.join(', ')}`);
    } else if (sizes.indexOf(size) !== index) {
      report(`${path}:${index}:size`, `is ${size} a second time`);
    }
    checkImageUri(report, `${path}:${index}:uri`, isMap(icon) ? icon['uri'] : undefined);
  }
  const missing = ICON_SIZES.filter((size) => !sizes.includes(size));
  if (missing.length > 0) report(path, `lacks the sizes ${missing.join(', ')}`);
}

/** A square size as a number, or as `72x72`. */
function iconSize(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const [, width = '', height = ''] = /^(\d+)x(\d+)$/.exec(String(value)) ?? [];
  return width !== '' && width === height ? Number(width) : null;
}

function checkImages(report: Report, path: string, value: unknown, size: string): void {
  if (!Array.isArray(value)) return report(path, 'must be a list of images { size, uri, altText }');
  for (const [index, image] of (value as readonly unknown[]).entries()) {
    const map = isMap(image) ? image : {};
    if (map['size'] !== size) report(`${path}:${index}:size`, `must be "${size}"`);
    checkImageUri(report, `${path}:${index}:uri`, map['uri']);
    checkText(report, `${path}:${index}:altText`, map['altText'], 250);
  }
}

function checkImageUri(report: Report, path: string, value: unknown): void {
  const url = httpsUrl(value);
  if (url === null || !IMAGE_PATH.test(url.pathname)) {
    report(path, 'must be an https URL whose path ends in .png, .jpg, .jpeg or .webp');
  }
}

// --- the export -----------------------------------------------------------------------------------------------

/** What goes into `addon-package/addon.json`: no credentials, nothing but the listing and where the tools are. */
export function addonManifest(listing: Listing, resource: string): Readonly<Record<string, unknown>> {
  return {
    manifestVersion: '1.0',
    storeListing: {
      distributionCountries: ['US'],
      locales: { 'en-US': withTextSizes(listing) },
    },
    integrations: [{ type: 'MCP', config: { endpoints: { default: { type: 'HTTPS', uri: resource } } } }],
  };
}

/** The vendor writes every size as a text: 72 is "72x72". */
function withTextSizes(listing: Listing): Listing {
  const media = at(listing, 'mediaAssets');
  const icons = at(listing, 'mediaAssets', 'icons');
  if (!isMap(media) || !isMap(icons)) return listing;
  const themes = Object.entries(icons).map(([theme, list]) => [
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

type UnknownMap = Readonly<Record<string, unknown>>;

function isMap(value: unknown): value is UnknownMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => (isMap(found) ? found[key] : undefined), value);
}
