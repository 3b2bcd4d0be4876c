/**
 * How a log may contain text from strangers: in quotes, cut, without invisible characters, and
 * without parts that may be secret.
 */

const MOST_CHARACTERS = 200;
/**
 * As long as a secret, a token or a code of this server: a client may have put one in the wrong
 * place.
 */
const LIKE_A_SECRET = /[A-Za-z0-9_-]{43,}/g;
/** A code verifier (RFC 7636 section 4.1). The host of a URI may look like one, and is shown. */
const LIKE_A_VERIFIER = /(?<!:\/\/[^/]*)[A-Za-z0-9._~-]{43,}/g;
/** The last word of a cut text: the cut may have made a secret too short to be recognized. */
const LAST_WORD = /[A-Za-z0-9._~-]+$/;

export function quoted(text: string): string {
  const cut =
    text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS).replace(LAST_WORD, '')}…` : text;
  return quotedPublic(cut.replaceAll(LIKE_A_SECRET, '[…]').replaceAll(LIKE_A_VERIFIER, '[…]'));
}

/**
 * The same for public values, such as the id of a public key: it is neither cut nor treated as a
 * secret.
 */
export function quotedPublic(text: string): string {
  const plain = text.replaceAll(
    /[\p{C}\p{Zl}\p{Zp}"\\]/gu,
    (each) => `\\u{${each.codePointAt(0)?.toString(16) ?? ''}}`,
  );
  return `"${plain}"`;
}

/**
 * Without the parts in which applications put secrets: what is before an @, the query and the
 * fragment.
 */
export function quotedUri(uri: string): string {
  return quoted(uri.replace(/[?#].*$/s, (rest) => `${rest.slice(0, 1)}…`).replace(/\/\/[^/?#]*@/, '//…@'));
}

/** At most ten of them. */
export function quotedList(names: readonly string[]): string {
  const shown = names.slice(0, 10).map(quoted).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

/** The shortest secret that an import accepts, and so the shortest text that may be one. */
const SHORTEST_SECRET = 16;

/**
 * A client id that no client has. It may be a typing error, which the log has to show, or a secret
 * in the wrong place, which it must not:
 *
 * - one of this server's form, and one that is too short to be a secret, is shown whole;
 * - a URL is shown as any URI;
 * - everything else is shortened in the middle: at most four characters at either end, and never
 *   more than a quarter of it.
 */
export function quotedClientId(clientId: string): string {
  if (/^[0-9a-f]{32}$/.test(clientId)) return quoted(clientId);
  if (clientId.startsWith('https://')) return quotedUri(clientId);
  const characters = Array.from(clientId);
  const { length } = characters;
  if (length < SHORTEST_SECRET) return quotedPublic(clientId);
  const shown = Math.min(4, Math.floor(length / 8));
  const ends = [characters.slice(0, shown), characters.slice(-shown)].map((each) => each.join(''));
  return `${quotedPublic(ends.join('…'))} (${length} characters, shortened: it may be a secret)`;
}
