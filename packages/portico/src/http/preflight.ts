/** Longer than anything a browser requests. Longer values are ignored. */
const LONGEST = 2048;

/** RFC 9110 section 5.1. */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The headers of a preflight response about request header fields. The listed ones are allowed, and
 * so are the others that the page requests, such as those of tracing. They are named, because some
 * browsers do not support `*`, and it never includes `Authorization`.
 */
export function allowedFields(request: Request, listed: string): Readonly<Record<string, string>> {
  const asked = request.headers.get(REQUESTED) ?? '';
  const known = new Set(listed.toLowerCase().split(', '));
  const names = asked.length > LONGEST ? [] : asked.split(',').map((name) => name.trim());
  const more = names.filter((name) => FIELD_NAME.test(name) && !known.has(name.toLowerCase()));
  return {
    'Access-Control-Allow-Headers': [listed, ...new Set(more)].join(', '),
    Vary: REQUESTED,
  };
}

const REQUESTED = 'Access-Control-Request-Headers';
