import { timingSafeEqual } from 'node:crypto';

/** Whether two strings are equal. The duration of the comparison depends only on their lengths. */
export function equalInConstantTime(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
