/**
 * Returns a text as an SQL literal, for statements that are printed. It doubles the quotes in the
 * text.
 */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
