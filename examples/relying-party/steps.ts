/** Who takes part in a sign-in. */
export type Party = 'browser' | 'notebook' | 'portal';

/** One step of a sign-in as it really happened: who sent what to whom. */
export interface Step {
  readonly from: Party;
  readonly to: Party;
  /** The request or the answer, short enough for the picture. */
  readonly label: string;
  readonly says: string;
  /**
   * Names and values that were sent; of what is secret, or good for something, the beginning alone.
   */
  readonly sent: readonly (readonly [name: string, value: string])[];
}

/**
 * What may be shown whole; everything else is cut, so that nothing on the page is good for
 * anything.
 */
const PUBLIC: ReadonlySet<string> = new Set([
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'code_challenge_method',
  'grant_type',
  'iss',
  'token_type',
  'expires_in',
  'status',
]);

/** In characters. */
const BEGINNING = 6;

/**
 * A step with what was sent, each value as far as it may be seen. What was not sent is left out.
 */
export function step(
  from: Party,
  to: Party,
  label: string,
  says: string,
  sent: Readonly<Record<string, string | number | undefined>> | URLSearchParams = {},
): Step {
  const entries = sent instanceof URLSearchParams ? [...sent] : Object.entries(sent);
  return {
    from,
    to,
    label,
    says,
    sent: entries.flatMap(([name, value]) =>
      value === undefined ? [] : [[name, visible(name, String(value))] as const],
    ),
  };
}

function visible(name: string, value: string): string {
  return PUBLIC.has(name) ? value : `${value.slice(0, BEGINNING)}…`;
}
