import { equalInConstantTime } from './http/constant-time.ts';
import type { Visitor } from './accounts.ts';
import { keyedHash } from './crypto.ts';

/**
 * Returns a form token. It protects against forged requests, because a page on another site cannot
 * know it. Its key is the browser secret. `about` begins with the form's name. After that, it names
 * what the form does, to what, and for whom.
 */
export function formToken({ browserSecret }: Visitor, ...about: readonly string[]): string {
  return keyedHash(browserSecret, ...about);
}

/** Whether the sent token matches this form. */
export function isFormToken(
  sent: string | undefined,
  visitor: Visitor,
  ...about: readonly string[]
): boolean {
  return equalInConstantTime(sent ?? '', formToken(visitor, ...about));
}
