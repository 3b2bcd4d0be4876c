/** The maximum length of `Accept-Language`, in characters. Further text is ignored. */
const LONGEST = 500;
/** The maximum number of languages in a header or parameter. Further ones are ignored. */
const MOST = 20;
/**
 * The maximum length of a tag, in characters. Long tags would be slow to look up. RFC 5646 section
 * 4.4.1 requires a limit of at least 35.
 */
const LONGEST_TAG = 100;

/**
 * Returns the languages in `Accept-Language` in order of preference (RFC 9110 section 12.5.4).
 * Omits invalid tags.
 */
export function acceptedLanguages(header: string | null): readonly string[] {
  const ranges = (header ?? '').slice(0, LONGEST).split(',', MOST);
  return ranges
    .flatMap((each) => {
      const [range = '', ...parameters] = each.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2) ?? '1';
      const quality = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
      return quality > 0 ? [{ range, quality }] : [];
    })
    .toSorted((one, other) => other.quality - one.quality)
    .flatMap(({ range }) => canonicalTag(range) ?? []);
}

/**
 * Returns the languages in `ui_locales` in order of preference (OpenID Connect Core section
 * 3.1.2.1). Omits invalid tags.
 */
export function wishedLanguages(tags: readonly string[]): readonly string[] {
  return tags.slice(0, MOST).flatMap((each) => canonicalTag(each) ?? []);
}

/**
 * Returns the tag in canonical form (BCP 47), for example `de-AT`. Returns null for an invalid or
 * long tag, and for some unusual tags, for example `rt-lojban-stre9`: `Intl` would change their
 * canonical form again.
 */
export function canonicalTag(tag: string): string | null {
  if (tag.length > LONGEST_TAG) return null;
  try {
    const [canonical = ''] = Intl.getCanonicalLocales(tag);
    return Intl.getCanonicalLocales(canonical)[0] === canonical ? canonical : null;
  } catch {
    return null;
  }
}

/**
 * Returns the available language for the first wanted language with a match, or null. All tags must
 * be in canonical form. An available language matches in two cases:
 *
 * - It is the same language or a more general one (RFC 4647 section 3.4).
 * - It has the same language and script. Example: `zh-CN` matches `zh-Hans`, but `zh-TW` does not.
 */
export function lookUp(wanted: readonly string[], available: readonly string[]): string | null {
  let written: readonly string[] | null = null;
  for (const tag of wanted) {
    const wider = widened(tag).find((each) => available.includes(each));
    if (wider !== undefined) return wider;
    // Creating a locale is slow, and a caller can want forty languages.
    written ??= available.map(writtenAs);
    const found = available[written.indexOf(writtenAs(tag))];
    if (found !== undefined) return found;
  }
  return null;
}

/**
 * Returns the tag and its more general forms, for example `zh-Hans-CN`, `zh-Hans` and `zh`. Omits
 * forms that end with a single character (RFC 4647 section 3.4).
 */
export function widened(tag: string): readonly string[] {
  const parts = tag.split('-');
  return parts
    .map((_, index) => parts.slice(0, parts.length - index).join('-'))
    .filter((each) => !/-[^-]$/.test(each));
}

/**
 * Returns the language and the script. Without a script in the tag, uses the most common script of
 * the language.
 */
function writtenAs(tag: string): string {
  const { language, script } = new Intl.Locale(tag).maximize();
  return `${language}-${script}`;
}

export function getDirection(tag: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(new Intl.Locale(tag).maximize().script ?? '') ? 'rtl' : 'ltr';
}

/** ISO 15924 codes of the right-to-left scripts that are in use today. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set([
  'Arab',
  'Hebr',
  'Syrc',
  'Thaa',
  'Nkoo',
  'Adlm',
  'Rohg',
]);
