/** In characters, of a header or a parameter: what stands behind is not read. */
const LONGEST = 500;
/** How many languages somebody may name: the others are not read. */
const MOST = 20;
/** In characters, of a tag: RFC 5646 section 4.4.1 needs 35. Looking one up takes time with the square of its parts. */
const LONGEST_TAG = 100;

/** The languages of `Accept-Language`, the most wanted first (RFC 9110 section 12.5.4). What is no language is left out. */
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

/** The languages of `ui_locales`, the most wanted first (OpenID Connect Core section 3.1.2.1). What is no language is left out. */
export function wishedLanguages(tags: readonly string[]): readonly string[] {
  return tags.slice(0, MOST).flatMap((each) => canonicalTag(each) ?? []);
}

/**
 * As BCP 47 writes it: `de-AT`; null for what is no language tag, and for one that is longer than any is. Of some that nobody speaks, with
 * parts that have been replaced, `Intl` gives a form that it writes otherwise when asked again (`rt-lojban-stre9`): those are none either.
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
 * The first of these languages that is there: the very one, else a wider one (RFC 4647 section 3.4), else one of the same language and
 * script, so that `zh-CN` finds `zh-Hans`, and `zh-TW` does not. All of them in canonical form; null for none.
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

/** The tag, and what is left of it without its last parts: `zh-Hans-CN`, `zh-Hans`, `zh`. */
export function widened(tag: string): readonly string[] {
  const parts = tag.split('-');
  return parts
    .map((_, index) => parts.slice(0, parts.length - index).join('-'))
    .filter((each) => !/-[^-]$/.test(each));
}

/** Language and script, also where the tag leaves the script out. */
function writtenAs(tag: string): string {
  const { language, script } = new Intl.Locale(tag).maximize();
  return `${language}-${script}`;
}

/** How a language is written. */
export function directionOf(tag: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(new Intl.Locale(tag).maximize().script ?? '') ? 'rtl' : 'ltr';
}

/** ISO 15924, those in use today. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo', 'Adlm', 'Rohg']);
