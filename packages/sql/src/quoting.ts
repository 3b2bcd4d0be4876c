/** Returns a text as a literal for a printed statement, with doubled quotes. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
