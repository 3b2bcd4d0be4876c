/**
 * Returns the names and values of all cookies in a request, in order. Cuts a value at the first `=`
 * in it.
 *
 * Removes only spaces and tabs. `trim` would also remove a no-break space. A page on a sibling
 * domain can set the cookie `\u00A0__Host-session`, because browsers do not see the prefix in this
 * name. `trim` would make it the session cookie.
 */
export function sentCookies(request: Request): readonly (readonly [name: string, value: string])[] {
  return cookiesIn(request.headers.get('cookie') ?? '');
}

/** Like `sentCookies`, for the value of a `Cookie` header. */
export function cookiesIn(header: string): readonly (readonly [name: string, value: string])[] {
  return header.split(';').map((pair) => {
    const [name = '', value = ''] = withoutSpaces(pair).split('=', 2);
    return [name, value] as const;
  });
}

/**
 * Removes spaces and tabs at both ends in one pass. A regular expression would start again at every
 * space inside the text.
 */
function withoutSpaces(text: string): string {
  const isSpace = (at: number) => text[at] === ' ' || text[at] === '\t';
  let [start, end] = [0, text.length];
  while (start < end && isSpace(start)) start += 1;
  while (end > start && isSpace(end - 1)) end -= 1;
  return text.slice(start, end);
}
