/** Longer than what browsers ask for; what is longer is not looked at. */
const LONGEST = 2048;

/** RFC 9110 section 5.1. */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * What the answer to a preflight says about header fields of the request: these may be sent, and so may the others that the page
 * asks for, such as those of tracing. They are named, since `*` is not read by every browser, and never stands for `Authorization`.
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
