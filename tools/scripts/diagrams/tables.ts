import { migrate } from '../../../packages/sql/src/migrations.ts';
import { openDatabase } from '../../../packages/sql/src/open-database.ts';
import { oauthServerMigrations } from '../../../packages/portico/src/store/migrations/index.ts';
import type { Source } from './source.ts';
import { rect, svg, text, tip, widthOf } from './svg.ts';

/**
 * A diagram of the tables of the store. Their columns come from the migrations. Its lines are:
 *
 * - `table oauth_clients 0: what a row is` puts a table into a column of the picture, below the
 *   tables that are already there.
 * - `oauth_families.client_id -> oauth_clients` says what a column refers to.
 *
 * It is an error if a table is not placed, or if a placed table does not exist.
 */
interface Column {
  readonly name: string;
  readonly isKey: boolean;
}
interface Table {
  readonly name: string;
  readonly says: string;
  readonly column: number;
  readonly columns: readonly Column[];
}
interface Placed extends Table {
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

const BREADTH = 262;
const GAP = 74;
const EDGE = 24;
const HEAD = 50;
const ROW = 18;

export async function tables(name: string, source: Source): Promise<string> {
  const schema = await readSchema();
  const wanted = source.lines.flatMap((each) => {
    const [, table, column, says = ''] = /^table (\w+) (\d): (.+)$/.exec(each) ?? [];
    return table === undefined ? [] : [{ name: table, column: Number(column), says }];
  });
  const missing = [...schema.keys()].filter((table) => !wanted.some((each) => each.name === table));
  if (missing.length > 0) throw new Error(`${name}: not placed: ${missing.join(', ')}`);
  const placed = place(
    wanted.map((each) => {
      const columns = schema.get(each.name);
      if (columns === undefined) throw new Error(`${name}: there is no table ${each.name}`);
      if (widthOf(each.says, 6.5) > BREADTH - 20)
        throw new Error(`${name}: '${each.says}' is too long`);
      return { ...each, columns };
    }),
  );
  const links = source.lines.flatMap((each) => {
    const [, from = '', column = '', to = ''] = /^(\w+)\.(\w+) -> (\w+)$/.exec(each) ?? [];
    return from === '' ? [] : [link(name, placed, from, column, to)];
  });
  const width =
    2 * EDGE + (Math.max(...placed.map(({ column }) => column)) + 1) * (BREADTH + GAP) - GAP;
  const height = Math.max(...placed.map(({ y, height: own }) => y + own)) + EDGE;
  const { title, description } = source;
  const parts = [...placed.flatMap(tableParts), ...links.flat()];
  return svg({ name, title, description, width, height, parts });
}

/** Returns the tables after the last migration, as SQLite reports them. */
async function readSchema(): Promise<ReadonlyMap<string, readonly Column[]>> {
  const database = openDatabase('sqlite::memory:', { directory: '.' });
  try {
    await migrate(database, oauthServerMigrations);
    const { rows } = await database.execute<{ tableName: string; name: string; pk: number }>(
      `SELECT t.name AS "tableName", c.name, c.pk FROM sqlite_master t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.name LIKE 'oauth%' ORDER BY t.name, c.cid`,
    );
    const byTable = Map.groupBy(rows, ({ tableName }) => tableName);
    return new Map(
      [...byTable].map(([table, own]) => [
        table,
        own.map(({ name, pk }) => ({ name, isKey: pk > 0 })),
      ]),
    );
  } finally {
    await database.close();
  }
}

function place(wanted: readonly Table[]): readonly Placed[] {
  const next = new Map<number, number>();
  return wanted.map((table) => {
    const y = next.get(table.column) ?? EDGE;
    const height = HEAD + table.columns.length * ROW + 12;
    next.set(table.column, y + height + 22);
    return { ...table, x: EDGE + table.column * (BREADTH + GAP), y, height };
  });
}

function tableParts({ name, says, x, y, height, columns }: Placed): readonly string[] {
  return [
    rect('plain', x, y, BREADTH, height),
    text(x + 12, y + 22, name, 'strong'),
    text(x + 12, y + 39, says, 'soft'),
    ...columns.map((column, index) =>
      text(
        x + 12,
        y + HEAD + 14 + index * ROW,
        `${column.name}${column.isKey ? ' (key)' : ''}`,
        'code',
      ),
    ),
  ];
}

function link(
  name: string,
  placed: readonly Placed[],
  from: string,
  column: string,
  to: string,
): readonly string[] {
  const [start, end] = [from, to].map((table) => placed.find((each) => each.name === table));
  const row = start?.columns.findIndex((each) => each.name === column) ?? -1;
  if (start === undefined || end === undefined || row < 0)
    throw new Error(`${name}: ${from}.${column} -> ${to} names what there is not`);
  const direction = Math.sign(end.x - start.x);
  if (direction === 0) throw new Error(`${name}: ${from} and ${to} are in one column`);
  const y = start.y + HEAD + 10 + row * ROW;
  const x = direction > 0 ? start.x + BREADTH : start.x;
  const target = direction > 0 ? end.x : end.x + BREADTH;
  const into = end.y + 18 + (placed.indexOf(start) % 3) * 8;
  const bend = (x + target) / 2 + direction * (row % 4) * 6;
  return [
    `<path class="line" d="M ${x} ${y} H ${bend} V ${into} H ${target - direction * 8}"/>`,
    tip(target, into, direction),
  ];
}
