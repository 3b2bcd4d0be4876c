/** A diagram as its text says it: a kind, what it is called, and its lines. */
export interface Source {
  readonly kind: string;
  readonly title: string;
  readonly description: string;
  /** What is left, without empty lines and comments (`#`). */
  readonly lines: readonly string[];
}

/** `kind: sequence`, `title: …` and `description: …`, then the lines of that kind. */
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
