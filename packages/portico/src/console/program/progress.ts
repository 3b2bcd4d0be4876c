import { systemTimer } from '@portico/sql';
import type { Timer } from '@portico/sql';
import type { ReportProgress } from '../../application/contracts.ts';

/** Where the progress of work that lasts is shown. */
export interface ProgressOptions {
  /** What is done, for a reader: `Removing expired rows`. */
  readonly what: string;
  /** Takes what is shown: standard error. */
  readonly write: (text: string) => void;
  /** The number of columns of the terminal; null if the output is not a terminal. */
  readonly columns: number | null;
  /** Measures how long the work lasts; the system's unless a test says otherwise. */
  readonly timer?: Timer;
}

/** In milliseconds: between two looks of the one line of a terminal, and between two lines elsewhere. */
const BETWEEN = { terminal: 100, lines: 5000 } as const;
/** How often the time that has passed is shown when nothing is reported, in milliseconds. */
const TICK = 1000;
/** Goes to the start of the line, and empties it. */
const EMPTY_LINE = '\r\u{1b}[2K';

/**
 * Runs work that lasts, and shows how far it has come: on a terminal one line that is rewritten, and gone when the work ends; elsewhere
 * a line now and then, and none for work that is soon done. Ends what it shows however the work ends.
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
    // A line that the terminal would break could not be rewritten.
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

/** Without what moves a terminal's cursor or turns text around. */
function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}
