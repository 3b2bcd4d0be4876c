/** The maximum length of a header or parameter, in characters. The rest is ignored. */
const LONGEST = 500;
/** The maximum number of languages in a request. The rest are ignored. */
const MOST = 20;
/**
 * The maximum length of a tag, in characters. RFC 5646 section 4.4.1 requires at least 35. Without
 * a limit, long tags would be slow to look up.
 */
const LONGEST_TAG = 100;

/**
 * Returns the languages in `Accept-Language`, preferred language first (RFC 9110 section 12.5.4).
 * Leaves out invalid tags.
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
 * Returns the languages in `ui_locales`, preferred language first (OpenID Connect Core section
 * 3.1.2.1). Leaves out invalid tags.
 */
export function wishedLanguages(tags: readonly string[]): readonly string[] {
  return tags.slice(0, MOST).flatMap((each) => canonicalTag(each) ?? []);
}

/**
 * Returns the tag in canonical form (BCP 47), for example `de-AT`. Returns null for a tag that is
 * invalid or too long. Also returns null for some unusual tags, for example `rt-lojban-stre9`,
 * because `Intl` would change their canonical form again.
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
 * Returns the available language for the first wanted language that has a match, or null. All tags
 * must be in canonical form.
 *
 * An available language matches a wanted language in these cases:
 *
 * - It is the same language, or a wider one (RFC 4647 section 3.4).
 * - It has the same language and script. So `zh-CN` matches `zh-Hans`, but `zh-TW` does not.
 */
export function lookUp(wanted: readonly string[], available: readonly string[]): string | null {
  for (const tag of wanted) {
    const found =
      widened(tag).find((each) => available.includes(each)) ??
      available.find((each) => writtenAs(each) === writtenAs(tag));
    if (found !== undefined) return found;
  }
  return null;
}

/** Returns the tag and its wider forms, each one part shorter: `zh-Hans-CN`, `zh-Hans`, `zh`. */
export function widened(tag: string): readonly string[] {
  const parts = tag.split('-');
  return parts
    .map((_, index) => parts.slice(0, parts.length - index).join('-'))
    .filter((each) => !/-[^-]$/.test(each));
}

/**
 * Returns the tag's language and script. For a tag without a script, this is the language's most
 * common script.
 */
function writtenAs(tag: string): string {
  const { language, script } = new Intl.Locale(tag).maximize();
  return `${language}-${script}`;
}

/** Returns the writing direction of a language. */
export function getDirection(tag: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(new Intl.Locale(tag).maximize().script ?? '') ? 'rtl' : 'ltr';
}

/** The scripts in use today that are written from right to left, as ISO 15924 codes. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set([
  'Arab',
  'Hebr',
  'Syrc',
  'Thaa',
  'Nkoo',
  'Adlm',
  'Rohg',
]);
