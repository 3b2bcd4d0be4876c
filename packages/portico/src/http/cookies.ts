/**
 * Returns the names and values of all cookies in a request, in order. If a value contains `=`,
 * returns only the part before it. Removes only spaces and tabs around each cookie. Do not use
 * `trim` here, because it also removes other white space, such as a no-break space. A page on a
 * sibling domain can set a cookie named `\u00A0__Host-session`, because browsers do not recognize
 * the prefix in this name. `trim` would turn this name into the name of the session cookie.
 */
export function sentCookies(request: Request): readonly (readonly [name: string, value: string])[] {
  return cookiesIn(request.headers.get('cookie') ?? '');
}

/** Does the same as `sentCookies` for the value of a `Cookie` header. */
export function cookiesIn(header: string): readonly (readonly [name: string, value: string])[] {
  return header.split(';').map((pair) => {
    const [name = '', value = ''] = withoutSpaces(pair).split('=', 2);
    return [name, value] as const;
  });
}

/**
 * Removes spaces and tabs at both ends, in one pass. A regular expression would be slow, because it
 * would start a new attempt at every space inside the text.
 */
function withoutSpaces(text: string): string {
  const isSpace = (at: number) => text[at] === ' ' || text[at] === '\t';
  let [start, end] = [0, text.length];
  while (start < end && isSpace(start)) start += 1;
  while (end > start && isSpace(end - 1)) end -= 1;
  return text.slice(start, end);
}
