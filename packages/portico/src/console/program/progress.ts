import { systemTimer } from '@portico/sql';
import type { Timer } from '@portico/sql';
import type { ReportProgress } from '../../application/contracts.ts';

/** Where to show the progress of long work. */
export interface ProgressOptions {
  /** A description of the work: `Removing expired rows`. */
  readonly what: string;
  /** Receives the output: standard error. */
  readonly write: (text: string) => void;
  /** The number of columns of the terminal; null if the output is not a terminal. */
  readonly columns: number | null;
  /** Measures how long the work lasts; the system's timer unless a test passes one. */
  readonly timer?: Timer;
}

/**
 * In milliseconds: between two updates of the line on a terminal, and between two lines elsewhere.
 */
const BETWEEN = { terminal: 100, lines: 5000 } as const;
/** How often to show the elapsed time if nothing is reported, in milliseconds. */
const TICK = 1000;
/** Moves to the start of the line, and clears it. */
const EMPTY_LINE = '\r\u{1b}[2K';

/**
 * Runs long work, and shows its progress. On a terminal that is one line, rewritten, and cleared
 * when the work ends. Elsewhere it is a line now and then, and none for short work. The output ends
 * however the work ends.
 */
export async function withProgress<T>(
  options: ProgressOptions,
  work: (report: ReportProgress) => Promise<T>,
): Promise<T> {
  const { report, end } = startProgress(options);
  try {
    return await work(report);
  } finally {
    end();
  }
}

function startProgress({ what, write, columns, timer = systemTimer }: ProgressOptions): {
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
    // A line that the terminal wraps could not be rewritten.
    write(columns === null ? `${text}\n` : `${EMPTY_LINE}${text.slice(0, Math.max(columns - 1, 1))}`);
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

/** Without characters that move a terminal's cursor or change the text direction. */
function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}
