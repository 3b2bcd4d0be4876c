/** Matches error codes of the system and of libraries, for example `ECONNREFUSED`. */
const CODE = /^[A-Z0-9_]{1,64}$/;

/**
 * Returns the first error code in the error and its causes, or null if none of them has a code.
 * Ignores messages, because they may contain parts of the request or response.
 */
export function codeWithin(error: unknown): string | null {
  let each = error;
  for (let depth = 0; depth < 5 && each instanceof Error; depth += 1) {
    if ('code' in each && typeof each.code === 'string' && CODE.test(each.code)) return each.code;
    each = each.cause;
  }
  return null;
}

/**
 * Returns the code of an error or of its causes. If there is no code, returns the name of the
 * error, for example `TypeError`. Returns null if there is no usable name either.
 */
export function getName(error: unknown): string | null {
  const code = codeWithin(error);
  if (code !== null || !(error instanceof Error)) return code;
  return /^\w{1,64}$/.test(error.name) ? error.name : null;
}
