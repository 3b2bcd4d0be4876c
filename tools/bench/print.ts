/** A table in Markdown, as a program printed it. */
export interface Table {
  readonly caption: string;
  /** The last part of the name of the chart that shows the same figures. */
  readonly chart?: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The tables that this process printed, in their order. `storeResult` stores them. */
export const PRINTED: Table[] = [];

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a table in Markdown, under its caption. */
export function printRows(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  about: Pick<Table, 'caption' | 'chart'> = { caption: '' },
): void {
  const table = { ...about, head, rows };
  if (about.caption !== '') print(`${about.caption}\n`);
  print(markdownOf(table));
  PRINTED.push(table);
}

export function markdownOf({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    line(head.map((_, index) => (index === 0 ? '---' : '--:'))),
    ...rows.map(line),
  ].join('\n');
}

export function figure(value: number | undefined): string {
  return value === undefined ? '-' : value.toLocaleString('en', { maximumFractionDigits: 0 });
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

export function times(ratio: number): string {
  return `${Number.isInteger(ratio) ? ratio : ratio.toFixed(2)} ×`;
}

/** Returns the ratio of two figures, or `-` if one of them was not measured. */
export function shareOf(one: number | undefined, other: number | undefined): string {
  return one === undefined || other === undefined ? '-' : percent(one / other);
}

export function ratioOf(one: number | undefined, other: number | undefined): string {
  return one === undefined || other === undefined ? '-' : `${(one / other).toFixed(2)} ×`;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
