/** As systems and libraries write their codes, such as `ECONNREFUSED`. */
const CODE = /^[A-Z0-9_]{1,64}$/;

/**
 * The code of an error, or of what caused it; null without one. Nothing else of an error is told to anybody: its message and its causes may
 * have in them what was sent or answered.
 */
export function codeWithin(error: unknown): string | null {
  let each = error;
  for (let depth = 0; depth < 5 && each instanceof Error; depth += 1) {
    if ('code' in each && typeof each.code === 'string' && CODE.test(each.code)) return each.code;
    each = each.cause;
  }
  return null;
}

/** The code of an error, and for want of one its class, such as `TypeError`; null where it has neither. */
export function nameOf(error: unknown): string | null {
  const code = codeWithin(error);
  if (code !== null || !(error instanceof Error)) return code;
  return /^\w{1,64}$/.test(error.name) ? error.name : null;
}
