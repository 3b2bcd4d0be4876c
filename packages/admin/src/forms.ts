import type { Server } from 'portico';
import {
  formToken,
  isFormToken,
  keyedHash,
  randomToken,
  type Parameters,
  type Visitor,
} from 'portico/extension';
import { markup, type Html } from './html.ts';

/** What a form of an administrator's page does. */
export interface FormSubject {
  /** Such as `revoke`. The form's button sends it as `do`. */
  readonly action: string;
  /** What it acts on, such as a client's id. */
  readonly target: string;
  /** Everything the person saw and decided by. If it changes, the form is void. */
  readonly state: unknown;
}

/** In milliseconds. */
const LIFETIME = 1_800_000;
/** How far the clocks of two machines may differ, in milliseconds. */
const TOLERANCE = 60_000;

/**
 * The forms of the pages. Each works once, for half an hour, for the person and the browser that it
 * was shown to.
 */
export class Forms {
  readonly #singleUses: Server['singleUses'];
  readonly #clock: () => number;

  /** `clock`: milliseconds since 1970. */
  constructor(singleUses: Server['singleUses'], clock: () => number) {
    this.#singleUses = singleUses;
    this.#clock = clock;
  }

  /** The hidden fields of a form. */
  fields(visitor: Visitor, subject: FormSubject): Html {
    const [id, shownAt] = [randomToken(), String(this.#clock())];
    const state = getState(visitor, subject);
    const token = formToken(visitor, ...getForm(visitor, subject, [id, shownAt, state]));
    const fields = { do: subject.action, form_id: id, shown_at: shownAt, state, csrf_token: token };
    return markup`${Object.entries(fields).map(
      ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`,
    )}`;
  }

  /**
   * Uses up the form, once across all processes; do its action right after this. Returns null if it
   * was accepted. Otherwise returns the reason for the log, and nothing may be done.
   */
  async refusal(visitor: Visitor, form: Parameters, subject: FormSubject): Promise<string | null> {
    const sent = (name: string) => form.get(name) ?? '';
    const [id, shownAt, state] = [sent('form_id'), sent('shown_at'), sent('state')];
    if (!isFormToken(sent('csrf_token'), visitor, ...getForm(visitor, subject, [id, shownAt, state]))) {
      return 'the csrf_token is not that of this form, person and browser session';
    }
    const age = this.#clock() - Number(shownAt);
    if (age > LIFETIME || age < -TOLERANCE) return 'the form was shown more than half an hour ago';
    if (state !== getState(visitor, subject)) return 'what it is about has changed since it was shown';
    const until = Number(shownAt) + LIFETIME + TOLERANCE;
    return (await this.#singleUses.claim('form', [id], until)) ? null : 'the form was sent before';
  }
}

/**
 * Keyed with the session's secret, so that it reveals nothing about a client, such as its secret's
 * hash.
 */
function getState({ browserSecret }: Visitor, { action, target, state }: FormSubject): string {
  return keyedHash(browserSecret, 'oauth/admin state', action, target, JSON.stringify(state));
}

function getForm(
  { user }: Visitor,
  { action, target }: FormSubject,
  sent: readonly string[],
): readonly string[] {
  const { provider, id } = user.reference;
  return ['oauth/admin', provider, id, action, target, ...sent];
}
