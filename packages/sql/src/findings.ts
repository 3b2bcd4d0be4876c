/** What a doctor found of one part. Only `failing` is a fault; `skipped` says why the part could not be examined. */
export interface Finding {
  /** `warning` is something to look at that stops nothing. */
  readonly outcome: 'ok' | 'warning' | 'failing' | 'skipped';
  /** What was seen, in a sentence. */
  readonly detail: string;
  /** What to do about it; null when there is nothing to do. */
  readonly remedy: string | null;
}

export const ok = (detail: string): Finding => ({ outcome: 'ok', detail, remedy: null });
export const skipped = (detail: string): Finding => ({ outcome: 'skipped', detail, remedy: null });
export const failing = (detail: string, remedy: string): Finding => ({ outcome: 'failing', detail, remedy });
export const warning = (detail: string, remedy: string): Finding => ({ outcome: 'warning', detail, remedy });
