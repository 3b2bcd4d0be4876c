/**
 * Whether an application has said yes: `true`, or the 1 that SQLite and MariaDB keep in its place. Whatever else an application in JavaScript
 * answers, such as a promise, rows or a text, is no yes.
 */
export function isYes(answer: unknown): boolean {
  return answer === true || answer === 1 || answer === 1n;
}
