/**
 * Whether an application's answer means yes: `true`, or the 1 that SQLite and MariaDB store for
 * `true`. Any other value, such as a promise, rows or a string, means no.
 */
export function isYes(answer: unknown): boolean {
  return answer === true || answer === 1 || answer === 1n;
}
