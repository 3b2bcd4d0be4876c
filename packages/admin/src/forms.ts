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

/** The action that a form on an administrator's page performs, and its target. */
export interface FormSubject {
  /** The name of the action, such as `revoke`. The form's button sends this name as `do`. */
  readonly action: string;
  /** What the action changes, such as a client's id. */
  readonly target: string;
  /**
   * The data about the target that the page shows. If this data changes before the user submits the
   * form, the form is rejected.
   */
  readonly state: unknown;
}

/** How long a form stays valid after the page is shown, in milliseconds. */
const LIFETIME = 1_800_000;
/** The maximum accepted difference between the clocks of two machines, in milliseconds. */
const TOLERANCE = 60_000;

/**
 * CSRF protection for the administrator's pages. A form is valid for 30 minutes, can be submitted
 * once, and works only for the user and browser it was created for. `administration.ts` checks the
 * request's origin first.
 */
export class Forms {
  readonly #singleUses: Server['singleUses'];
  readonly #clock: () => number;

  /** `clock` returns milliseconds since 1970. */
  constructor(singleUses: Server['singleUses'], clock: () => number) {
    this.#singleUses = singleUses;
    this.#clock = clock;
  }

  /** Returns the hidden fields that protect a form. */
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
   * Checks a form and marks it as used. Each form is accepted only once, even if several processes
   * receive it. If the form is accepted, returns null, and the caller must perform the action
   * immediately. Otherwise, returns why the form was rejected, for the log.
   */
  async refusal(visitor: Visitor, form: Parameters, subject: FormSubject): Promise<string | null> {
    const sent = (name: string) => form.get(name) ?? '';
    const [id, shownAt, state] = [sent('form_id'), sent('shown_at'), sent('state')];
    if (
      !isFormToken(sent('csrf_token'), visitor, ...getForm(visitor, subject, [id, shownAt, state]))
    ) {
      return 'the csrf_token is not valid for this form, person and browser session';
    }
    const age = this.#clock() - Number(shownAt);
    if (age > LIFETIME || age < -TOLERANCE) return 'the form is more than 30 minutes old';
    if (state !== getState(visitor, subject))
      return 'the data has changed since the form was shown';
    const until = Number(shownAt) + LIFETIME + TOLERANCE;
    return (await this.#singleUses.claim('form', [id], until)) ? null : 'the form was already sent';
  }
}

/**
 * Returns a keyed hash of the form's state, which may contain the hash of a client's secret. The
 * key is the secret of the browser session, so the hash does not reveal the state.
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
