import { systemTimer } from '@portico/sql';
import type { Timer } from '@portico/sql';
import type { ReportProgress } from '../../application/console-context.ts';

/**
 * The minimum time between two progress messages, in milliseconds: on a terminal, and for lines in
 * other output.
 */
const BETWEEN = { terminal: 100, lines: 5000 } as const;
/** How often the elapsed time is updated without a report, in milliseconds. */
const TICK = 1000;
/** Moves the cursor to the start of the line and clears the line. */
const EMPTY_LINE = '\r\u{1b}[2K';

/**
 * Runs work that takes long, and shows its progress. On a terminal, updates a single line, and
 * clears it at the end. Elsewhere, prints a new line every five seconds, and for each report with
 * `atOnce`. Short work without `atOnce` prints nothing.
 *
 * `what` describes the work, for example `Removing expired rows`. `write` writes to standard error.
 * `columns` is the width of the terminal, or null.
 */
export async function withProgress<T>(
  what: string,
  write: (text: string) => void,
  columns: number | null,
  work: (report: ReportProgress) => Promise<T>,
  timer: Timer = systemTimer,
): Promise<T> {
  const { report, end } = startProgress(what, write, columns, timer);
  try {
    return await work(report);
  } finally {
    end();
  }
}

function startProgress(
  what: string,
  write: (text: string) => void,
  columns: number | null,
  timer: Timer,
): {
  readonly report: ReportProgress;
  readonly end: () => void;
} {
  const startedAt = timer.now();
  const between = columns === null ? BETWEEN.lines : BETWEEN.terminal;
  let shownAt = columns === null ? startedAt : Number.NEGATIVE_INFINITY;
  let state = '';
  let ended = false;

  function show(): void {
    const now = timer.now();
    shownAt = now;
    const text = `${what}${state === '' ? '' : `: ${state}`} (${Math.floor((now - startedAt) / 1000)} s)`;
    // A line that wraps cannot be overwritten, so shorten it to the width of the terminal.
    write(
      columns === null ? `${text}\n` : `${EMPTY_LINE}${text.slice(0, Math.max(columns - 1, 1))}`,
    );
  }

  function showIfDue(): void {
    if (timer.now() - shownAt >= between) show();
  }

  let stop = timer.after(TICK, tick);
  function tick(): void {
    showIfDue();
    stop = timer.after(TICK, tick);
  }

  if (columns !== null) show();
  const report: ReportProgress = (reported, { atOnce = false } = {}) => {
    if (ended) return;
    state = printable(reported);
    if (atOnce) show();
    else showIfDue();
  };
  return {
    report,
    end() {
      ended = true;
      stop();
      if (columns !== null) write(EMPTY_LINE);
    },
  };
}

/** Replaces characters that move the terminal's cursor or change the text direction. */
function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}
