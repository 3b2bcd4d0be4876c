/**
 * What a doctor found about one part. Only `failing` is a fault; `skipped` says why the part could
 * not be examined.
 */
export interface Finding {
  /** `warning` needs a look but stops nothing. */
  readonly outcome: 'ok' | 'warning' | 'failing' | 'skipped';
  /** What the doctor saw, in one sentence. */
  readonly detail: string;
  /** What to do about it, or null if there is nothing to do. */
  readonly remedy: string | null;
}

/** A part that is in order. */
export const ok = (detail: string): Finding => ({ outcome: 'ok', detail, remedy: null });
/** A part that could not be examined. */
export const skipped = (detail: string): Finding => ({ outcome: 'skipped', detail, remedy: null });
/** A fault, and what to do about it. */
export const failing = (detail: string, remedy: string): Finding => ({ outcome: 'failing', detail, remedy });
/** Something that needs a look but stops nothing. */
export const warning = (detail: string, remedy: string): Finding => ({ outcome: 'warning', detail, remedy });
