import { equalInConstantTime } from './http/constant-time.ts';
import type { Visitor } from './accounts.ts';
import { keyedHash } from './crypto.ts';

/**
 * The token of a form, against forged requests: a page of another site cannot know it. It is keyed
 * by the browser session. `about` begins with the form's name, and says what the form does, to
 * what, and for whom.
 */
export function formToken({ browserSecret }: Visitor, ...about: readonly string[]): string {
  return keyedHash(browserSecret, ...about);
}

/** Whether the sent token is this one. */
export function isFormToken(
  sent: string | undefined,
  visitor: Visitor,
  ...about: readonly string[]
): boolean {
  return equalInConstantTime(sent ?? '', formToken(visitor, ...about));
}
