/** Returns a text as an SQL literal with doubled quotes, for printed statements. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
