/**
 * Returns the name and value of each cookie in a request, in order. Removes only spaces and tabs
 * around names. Do not use `trim`, which also removes other white space, for example a no-break
 * space. Browsers let a page of a sibling domain set a cookie named `\u00A0__Host-session`, because
 * they do not recognize the prefix in that name. `trim` would turn it into the name of the session
 * cookie.
 */
export function sentCookies(request: Request): readonly (readonly [name: string, value: string])[] {
  return cookiesIn(request.headers.get('cookie') ?? '');
}

/** Like `sentCookies`, but for a `Cookie` header. */
export function cookiesIn(header: string): readonly (readonly [name: string, value: string])[] {
  return header.split(';').map((pair) => {
    const [name = '', value = ''] = withoutSpaces(pair).split('=', 2);
    return [name, value] as const;
  });
}

/**
 * Removes spaces and tabs at both ends, in one pass. A regular expression would be slow, because it
 * would try to match at every space within the text.
 */
function withoutSpaces(text: string): string {
  const isSpace = (at: number) => text[at] === ' ' || text[at] === '\t';
  let [start, end] = [0, text.length];
  while (start < end && isSpace(start)) start += 1;
  while (end > start && isSpace(end - 1)) end -= 1;
  return text.slice(start, end);
}
