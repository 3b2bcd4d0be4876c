/**
 * Whether an application answered yes: `true`, or the 1 that SQLite and MariaDB store for it.
 * Anything else, such as a promise, rows or a text, counts as no.
 */
export function isYes(answer: unknown): boolean {
  return answer === true || answer === 1 || answer === 1n;
}
