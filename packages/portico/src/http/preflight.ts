/**
 * The server ignores longer lists of headers in a preflight request. No ordinary page needs them.
 */
const LONGEST = 2048;

/** Matches a header field name (RFC 9110 section 5.1). */
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Returns the headers that answer a CORS preflight. They allow the headers in `listed` and all
 * others that the page requests, for example tracing headers. The response names each header,
 * because `*` never includes `Authorization` and some browsers do not support it.
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
