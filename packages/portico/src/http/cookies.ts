/**
 * Name and value of each cookie of a request, in order. Removes only spaces and tabs: `trim` would
 * also remove a no-break space, but browsers see no prefix in `\u00A0__Host-session`, so any
 * sibling domain could set that cookie.
 */
export function sentCookies(request: Request): readonly (readonly [name: string, value: string])[] {
  return cookiesIn(request.headers.get('cookie') ?? '');
}

/** As `sentCookies`, for the text of a `Cookie` header. */
export function cookiesIn(header: string): readonly (readonly [name: string, value: string])[] {
  return header.split(';').map((pair) => {
    const [name = '', value = ''] = withoutSpaces(pair).split('=', 2);
    return [name, value] as const;
  });
}

/** In one pass: a regular expression for the end tries each space inside the text as its start. */
function withoutSpaces(text: string): string {
  const isSpace = (at: number) => text[at] === ' ' || text[at] === '\t';
  let [start, end] = [0, text.length];
  while (start < end && isSpace(start)) start += 1;
  while (end > start && isSpace(end - 1)) end -= 1;
  return text.slice(start, end);
}
