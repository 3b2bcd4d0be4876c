/** The form of error codes of systems and libraries, such as `ECONNREFUSED`. */
const CODE = /^[A-Z0-9_]{1,64}$/;

/**
 * The code of an error or of its causes. Null without one. Nothing else of an error is passed on:
 * its message and causes may contain what was sent or answered.
 */
export function codeWithin(error: unknown): string | null {
  let each = error;
  for (let depth = 0; depth < 5 && each instanceof Error; depth += 1) {
    if ('code' in each && typeof each.code === 'string' && CODE.test(each.code)) return each.code;
    each = each.cause;
  }
  return null;
}

/** The code of an error, or else its class name, such as `TypeError`. Null if it has neither. */
export function getName(error: unknown): string | null {
  const code = codeWithin(error);
  if (code !== null || !(error instanceof Error)) return code;
  return /^\w{1,64}$/.test(error.name) ? error.name : null;
}
