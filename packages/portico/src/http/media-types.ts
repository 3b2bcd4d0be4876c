/**
 * Reads media types from headers (RFC 9110 sections 8.3.1 and 12.5.1). Ignores letter case, and all
 * parameters except `q` in `Accept`.
 */

/**
 * Returns the type and subtype in lower case, or an empty string. Example: `application/json` for
 * `Application/JSON; charset=utf-8`.
 */
export function readMediaType(contentType: string | null | undefined): string {
  return (contentType?.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Returns true if `Accept` names this media type without `q=0`. A wildcard names no type. */
export function acceptsByName(accept: string | null, mediaType: string): boolean {
  return splitOutsideQuotes(accept ?? '', ',').some((range) => {
    const [name, ...parameters] = splitOutsideQuotes(range, ';');
    return (
      readMediaType(name) === mediaType &&
      !parameters.some((parameter) => NO_WEIGHT.test(parameter))
    );
  });
}

/** Matches the weight 0, which means "not acceptable" (RFC 9110 section 12.4.2). */
const NO_WEIGHT = /^\s*q=0(?:\.0{0,3})?\s*$/i;

/**
 * Splits the text at each separator outside quotes. An unclosed quote extends to the end. Reads the
 * text once, so long input is not slow.
 */
function splitOutsideQuotes(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (quoted && character === '\\') at += 1;
    else if (!quoted && character === separator) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}
