/** The maximum length of a header or a parameter, in characters. The rest is ignored. */
const LONGEST = 500;
/** The maximum number of languages in a request. The rest is ignored. */
const MOST = 20;
/**
 * The maximum length of a tag, in characters. RFC 5646 section 4.4.1 needs 35. A look-up's time
 * grows with the square of the tag's parts.
 */
const LONGEST_TAG = 100;

/**
 * Returns the languages in `Accept-Language`, most wanted first (RFC 9110 section 12.5.4). Leaves
 * out invalid tags.
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
 * Returns the languages in `ui_locales`, most wanted first (OpenID Connect Core section 3.1.2.1).
 * Leaves out invalid tags.
 */
export function wishedLanguages(tags: readonly string[]): readonly string[] {
  return tags.slice(0, MOST).flatMap((each) => canonicalTag(each) ?? []);
}

/**
 * Returns the tag as BCP 47 writes it: `de-AT`. Null for an invalid or too long tag. For some
 * unusual tags with replaced parts (`rt-lojban-stre9`), `Intl` returns a form that a second call
 * changes again. Those count as invalid.
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
 * Returns the first of these languages that is available: exactly, or a wider one (RFC 4647 section
 * 3.4), or one with the same language and script. So `zh-CN` finds `zh-Hans`, but `zh-TW` does not.
 * All tags are in canonical form. Null if none of them is available.
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

/** Returns the tag and its wider forms without the last parts: `zh-Hans-CN`, `zh-Hans`, `zh`. */
export function widened(tag: string): readonly string[] {
  const parts = tag.split('-');
  return parts
    .map((_, index) => parts.slice(0, parts.length - index).join('-'))
    .filter((each) => !/-[^-]$/.test(each));
}

/** Returns the language and script, even if the tag does not contain the script. */
function writtenAs(tag: string): string {
  const { language, script } = new Intl.Locale(tag).maximize();
  return `${language}-${script}`;
}

/** Returns a language's writing direction. */
export function getDirection(tag: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(new Intl.Locale(tag).maximize().script ?? '') ? 'rtl' : 'ltr';
}

/** The scripts in use today that are written from right to left (ISO 15924 codes). */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set([
  'Arab',
  'Hebr',
  'Syrc',
  'Thaa',
  'Nkoo',
  'Adlm',
  'Rohg',
]);
