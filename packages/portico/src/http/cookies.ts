/**
 * Name and value of each cookie that a request carries, in their order. Only spaces and tabs are taken off: `trim` also takes
 * a no-break space, and browsers do not see the prefix in `\u00A0__Host-session`, which any sibling domain may set.
 */
export function sentCookies(request: Request): readonly (readonly [name: string, value: string])[] {
  return cookiesIn(request.headers.get('cookie') ?? '');
}

/** The same of the `Cookie` header by itself. */
export function cookiesIn(header: string): readonly (readonly [name: string, value: string])[] {
  return header.split(';').map((pair) => {
    const [name = '', value = ''] = pair.replaceAll(/^[ \t]+|[ \t]+$/g, '').split('=', 2);
    return [name, value] as const;
  });
}
