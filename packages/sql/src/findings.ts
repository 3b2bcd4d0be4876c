/**
 * The result of one check by the doctor. Only `failing` means that something does not work.
 * `skipped` means that the doctor could not run the check.
 */
export interface Finding {
  /** The outcome. `warning` means that everything works but something needs attention. */
  readonly outcome: 'ok' | 'warning' | 'failing' | 'skipped';
  /** What was found, in one sentence. */
  readonly detail: string;
  /** What the operator can do about the finding. Null if there is no advice. */
  readonly remedy: string | null;
}

/** Creates a finding for something that works. */
export const ok = (detail: string): Finding => ({ outcome: 'ok', detail, remedy: null });
/** Creates a finding for something that could not be checked. */
export const skipped = (detail: string): Finding => ({ outcome: 'skipped', detail, remedy: null });
/** Creates a finding for a problem. `remedy` says what to do about it. */
export const failing = (detail: string, remedy: string): Finding => ({
  outcome: 'failing',
  detail,
  remedy,
});
/** Creates a finding for something that works but needs attention. */
export const warning = (detail: string, remedy: string): Finding => ({
  outcome: 'warning',
  detail,
  remedy,
});
