import { equalInConstantTime } from '../../http/constant-time.ts';
import type { Visitor } from '../accounts.ts';
import { keyedHash, randomToken } from '../crypto.ts';
import type { Parameters } from '../parameters.ts';
import type { SingleUses } from '../store/single-uses.ts';
import { markup, type Markup } from './markup.ts';

/** What a form of an administrator's page does. */
export interface FormSubject {
  /** Such as `revoke`; the form's button sends it as `do`. */
  readonly action: string;
  /** What it is done to, such as a client's id. */
  readonly target: string;
  /** All that the person saw of it and decided by: once it is another, the form is void. */
  readonly state: unknown;
}

/** The forms of the pages: each is good once, for half an hour, for the person and the browser that it was shown to. */
export interface Forms {
  /** The hidden fields of a form. */
  fields(visitor: Visitor, subject: FormSubject): Markup;
  /**
   * Takes the form, once in all processes; what it does follows at once. Null when it was taken, otherwise why it was not, for the log:
   * nothing may be done then.
   */
  refusal(visitor: Visitor, form: Parameters, subject: FormSubject): Promise<string | null>;
}

/** In milliseconds. */
const LIFETIME = 1_800_000;
/** Clocks of two machines differ, in milliseconds. */
const TOLERANCE = 60_000;

export function createForms({
  singleUses,
  clock,
}: {
  readonly singleUses: SingleUses;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}): Forms {
  return {
    fields(visitor, subject) {
      const [id, shownAt] = [randomToken(), String(clock())];
      const state = stateOf(visitor, subject);
      const token = tokenOf(visitor, subject, [id, shownAt, state]);
      const fields = { do: subject.action, form_id: id, shown_at: shownAt, state, csrf_token: token };
      return markup`${Object.entries(fields).map(
        ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`,
      )}`;
    },
    async refusal(visitor, form, subject) {
      const sent = (name: string) => form.get(name) ?? '';
      const [id, shownAt, state] = [sent('form_id'), sent('shown_at'), sent('state')];
      if (!equalInConstantTime(sent('csrf_token'), tokenOf(visitor, subject, [id, shownAt, state]))) {
        return 'the csrf_token is not that of this form, person and browser session';
      }
      const age = clock() - Number(shownAt);
      if (age > LIFETIME || age < -TOLERANCE) return 'the form was shown more than half an hour ago';
      if (state !== stateOf(visitor, subject)) return 'what it is about has changed since it was shown';
      const until = Number(shownAt) + LIFETIME + TOLERANCE;
      return (await singleUses.claim('form', [id], until)) ? null : 'the form was sent before';
    },
  };
}

/** By the session's secret: what is known of a client, its secret's hash too, is not told by it. */
function stateOf({ browserSecret }: Visitor, { action, target, state }: FormSubject): string {
  return keyedHash(browserSecret, 'oauth/admin state', action, target, JSON.stringify(state));
}

function tokenOf(
  { user, browserSecret }: Visitor,
  { action, target }: FormSubject,
  sent: readonly string[],
): string {
  const { provider, id } = user.reference;
  return keyedHash(browserSecret, 'oauth/admin', provider, id, action, target, ...sent);
}
