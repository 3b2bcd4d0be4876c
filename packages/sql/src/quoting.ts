/** A text in a statement that is printed, with its quotes doubled. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
