import { equalInConstantTime } from '../http/constant-time.ts';
import type { Visitor } from './accounts.ts';
import { keyedHash } from '../crypto.ts';

/**
 * Returns a token that protects a form against forged requests (CSRF). The token is a hash with the
 * browser secret as its key, so a page on another site cannot know it. `about` lists the form's
 * name, what the form does, and for whom.
 */
export function formToken({ browserSecret }: Visitor, ...about: readonly string[]): string {
  return keyedHash(browserSecret, ...about);
}

/** Whether the form was submitted with the right token. */
export function isFormToken(
  sent: string | undefined,
  visitor: Visitor,
  ...about: readonly string[]
): boolean {
  return equalInConstantTime(sent ?? '', formToken(visitor, ...about));
}
