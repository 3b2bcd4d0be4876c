/** The parts of a diagram's text: its kind, title and description, and its other lines. */
export interface Source {
  readonly kind: string;
  readonly title: string;
  readonly description: string;
  /** The other lines, without empty lines and comments (`#`). */
  readonly lines: readonly string[];
}

/**
 * Parses the text of a diagram. It begins with `kind: sequence`, `title: …` and `description: …`.
 * After these come the lines of that kind.
 */
export function parse(file: string, text: string): Source {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const head = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^(kind|title|description): (.+)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) head.set(name, value);
  }
  function of(name: string): string {
    const value = head.get(name);
    if (value === undefined) throw new Error(`${file}: there is no line '${name}: …'`);
    return value;
  }
  return {
    kind: of('kind'),
    title: of('title'),
    description: of('description'),
    lines: lines.filter((line) => !/^(?:kind|title|description): /.test(line)),
  };
}
