/** What a doctor found of one part. Only `failing` is a fault; `skipped` says why the part could not be examined. */
export interface Finding {
  /** `warning` is something to look at that stops nothing. */
  readonly outcome: 'ok' | 'warning' | 'failing' | 'skipped';
  /** What was seen, in a sentence. */
  readonly detail: string;
  /** What to do about it; null when there is nothing to do. */
  readonly remedy: string | null;
}

/** A part that is as it should be. */
export const ok = (detail: string): Finding => ({ outcome: 'ok', detail, remedy: null });
/** A part that could not be examined. */
export const skipped = (detail: string): Finding => ({ outcome: 'skipped', detail, remedy: null });
/** A fault, and what to do about it. */
export const failing = (detail: string, remedy: string): Finding => ({ outcome: 'failing', detail, remedy });
/** Something to look at that stops nothing. */
export const warning = (detail: string, remedy: string): Finding => ({ outcome: 'warning', detail, remedy });
