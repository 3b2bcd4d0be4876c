/** The parties of a sign-in. */
export type Party = 'browser' | 'notebook' | 'portal';

/** One step of a sign-in as it happened: who sent what to whom. */
export interface Step {
  readonly from: Party;
  readonly to: Party;
  /** A short text about the request or response, for the picture. */
  readonly label: string;
  readonly says: string;
  /**
   * The names and values that were sent. If a value could be misused, only its beginning is
   * included.
   */
  readonly sent: readonly (readonly [name: string, value: string])[];
}

/**
 * The names whose values may be shown. All other values are cut, so that no value on the page can
 * be misused.
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

/** How many characters of a secret value are shown. */
const BEGINNING = 6;

/** Creates a step. Secret values are cut, and undefined values are left out. */
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
