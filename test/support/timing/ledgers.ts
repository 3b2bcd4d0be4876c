import { keepLedger } from './ledger.ts';
import { isImported } from './rows.ts';
import type { Row } from './rows/row.ts';
import { startWorld, type World } from './world.ts';

/**
 * Returns the differences between the work of the two classes of a row, as text. Empty if there are
 * none.
 */
export async function differencesOf(row: Row, world: World): Promise<readonly string[]> {
  const pair = await row.prepare(world);
  const ledger = keepLedger();
  try {
    const answers: unknown[] = [];
    // Send each request once before. A separate test checks the first requests of a process.
    for (const request of pair.requests) answers.push(await answerOf(await world.send(request())));
    const works: (readonly string[])[] = [];
    for (const request of pair.requests) {
      const sent = request();
      works.push(await ledger.of(() => world.send(sent).then((response) => response.text())));
    }
    const [one = []] = works;
    const [status] = (answers[0] ?? []) as readonly unknown[];
    return [
      ...(status === pair.status ? [] : [`the answer is ${String(status)}, not ${pair.status}`]),
      ...(JSON.stringify(answers[0]) === JSON.stringify(answers[1]) ? [] : ['the answers differ']),
      ...compared(row, works),
      ...row.must.flatMap((entry) =>
        one.some((each) => each.startsWith(entry)) ? [] : [`neither has ${entry}`],
      ),
    ];
  } finally {
    ledger.remove();
  }
}

/** Returns the differences if each of the two requests is the very first request of a process. */
export async function firstDifferencesOf(row: Row): Promise<readonly string[]> {
  const works: (readonly string[])[] = [];
  for (const which of [0, 1] as const) {
    const world = await startWorld({ hashing: 'argon2id', takesImported: false });
    const { requests } = await row.prepare(world);
    const ledger = keepLedger();
    works.push(await ledger.of(() => world.send(requests[which]())));
    ledger.remove();
    await world.close();
  }
  return compared(row, works);
}

/** Returns the differences if the same request arrives twice at the same time. */
export async function differencesAtOnce(row: Row): Promise<readonly string[]> {
  const world = await startWorld({ hashing: 'argon2id', takesImported: false });
  const { requests } = await row.prepare(world);
  const ledger = keepLedger();
  try {
    const works: (readonly string[])[] = [];
    for (const request of requests) {
      await world.send(request());
      const sent = request();
      const again = sent.clone();
      works.push(await ledger.of(() => Promise.all([world.send(sent), world.send(again)])));
    }
    const slow = works.map((work) => work.filter((entry) => entry === 'argon2'));
    return compared(row, slow);
  } finally {
    ledger.remove();
    await world.close();
  }
}

/**
 * Rows whose requests are slow if nothing is cached yet, or if the same request is already running.
 */
export const isSlow = ({ name }: Row): boolean =>
  name === 'Client, Basic' || name === 'Sign-in, account';

/** Returns every difference in the work of a row. It starts a separate server for the row. */
export async function workOf(row: Row): Promise<readonly string[]> {
  const world = await startWorld({ hashing: 'argon2id', takesImported: isImported(row) });
  try {
    const found = await differencesOf(row, world);
    if (!isSlow(row)) return found;
    return [...found, ...(await firstDifferencesOf(row)), ...(await differencesAtOnce(row))];
  } finally {
    await world.close();
  }
}

function compared(
  { classes, slight }: Row,
  [one = [], other = []]: readonly (readonly string[])[],
) {
  return [...moreOf(classes[0], one, other, slight), ...moreOf(classes[1], other, one, slight)];
}

/** Returns the entries that `one` has more often than `other`. */
function moreOf(
  name: string,
  one: readonly string[],
  other: readonly string[],
  slight: readonly string[],
): readonly string[] {
  const rest = [...other];
  return one.flatMap((entry) => {
    const found = rest.indexOf(entry);
    if (found < 0) return slight.includes(entry) ? [] : [`only ${name}: ${entry}`];
    rest.splice(found, 1);
    return [];
  });
}

/**
 * Returns the status and the JSON of a response. Leaves out pages, because they contain a nonce and
 * the typed text.
 */
async function answerOf(response: Response): Promise<readonly unknown[]> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const text = await response.text();
  return [response.status, isJson && text !== '' ? (JSON.parse(text) as unknown) : null];
}
