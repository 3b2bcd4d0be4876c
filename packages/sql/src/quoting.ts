/** Returns a text as an SQL literal, for printed statements. Doubles the quotes in the text. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
