/** A text as a literal in a printed statement, with its quotes doubled. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
