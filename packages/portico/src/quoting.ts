/**
 * Quotes and shortens untrusted text for the log. Escapes invisible characters, and removes parts
 * that may be secret.
 */

const MOST_CHARACTERS = 200;
/**
 * Matches text that is as long as this server's secrets, tokens and codes, or longer. A client may
 * send a secret in the wrong parameter.
 */
const LIKE_A_SECRET = /[A-Za-z0-9_-]{43,}/g;
/**
 * Matches a code verifier (RFC 7636 section 4.1), but not a hostname in a URI that looks like one.
 */
const LIKE_A_VERIFIER = /(?<!:\/\/[^/]*)[A-Za-z0-9._~-]{43,}/g;
/** The last word of a shortened text may be the beginning of a secret. */
const LAST_WORD = /[A-Za-z0-9._~-]+$/;

/**
 * Quotes an untrusted text for the log, with at most 200 characters. Escapes invisible characters.
 * Replaces parts that are at least as long as a secret with `[…]`.
 */
export function quoted(text: string): string {
  const cut =
    text.length > MOST_CHARACTERS
      ? `${text.slice(0, MOST_CHARACTERS).replace(LAST_WORD, '')}…`
      : text;
  return quotedPublic(cut.replaceAll(LIKE_A_SECRET, '[…]').replaceAll(LIKE_A_VERIFIER, '[…]'));
}

/**
 * Quotes a public value, for example the id of a public key. Does not shorten it or remove secrets.
 */
export function quotedPublic(text: string): string {
  const plain = text.replaceAll(
    /[\p{C}\p{Zl}\p{Zp}"\\]/gu,
    (each) => `\\u{${each.codePointAt(0)?.toString(16) ?? ''}}`,
  );
  return `"${plain}"`;
}

/** Quotes a URI without its user information, query and fragment. These often contain secrets. */
export function quotedUri(uri: string): string {
  return quoted(
    uri.replace(/[?#].*/s, (rest) => `${rest.slice(0, 1)}…`).replace(/\/\/[^/?#]*@/, '//…@'),
  );
}

/** Quotes at most ten names, and counts the others. */
export function quotedList(names: readonly string[]): string {
  const shown = names.slice(0, 10).map(quoted).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

/** The minimum length of an imported secret. Shorter texts are not secrets. */
const SHORTEST_SECRET = 16;

/**
 * Quotes an unknown client id for the log. The result shows a typing error, but no secret that a
 * client sent as its id.
 *
 * - An id in this server's format, or one that is too short for a secret, is shown in full.
 * - An `https` URL is shown like any other URI.
 * - Any other id loses its middle. At most four characters remain at each end, and at most a
 *   quarter of the id in total.
 */
export function quotedClientId(clientId: string): string {
  if (/^[0-9a-f]{32}$/.test(clientId)) return quoted(clientId);
  if (clientId.startsWith('https://')) return quotedUri(clientId);
  const characters = Array.from(clientId);
  const { length } = characters;
  if (length < SHORTEST_SECRET) return quotedPublic(clientId);
  const shown = Math.min(4, Math.floor(length / 8));
  const ends = [characters.slice(0, shown), characters.slice(-shown)].map((each) => each.join(''));
  return (
    `${quotedPublic(ends.join('…'))} (${length} characters, shortened because it may be a ` +
    'secret)'
  );
}
