/** People, as both the authorization server and the host kit speak of them. */

/**
 * Identifies an account without saying anything about it: the pair that a session stores. Compared
 * byte by byte.
 */
export interface PersonReference {
  /** Name of the account provider, at most 64 characters. */
  readonly provider: string;
  /** The account's identifier within its provider, at most 255 characters. */
  readonly id: string;
}

/**
 * OpenID Connect standard claims of a person (OpenID Connect Core 5.1), as far as the host knows
 * them.
 */
export interface Profile {
  /** The full name, for display. */
  readonly name?: string | undefined;
  /** The email address of the person. */
  readonly email?: string | undefined;
  /** Whether the person has proved that the address is theirs. */
  readonly email_verified?: boolean | undefined;
  readonly [claim: string]: unknown;
}

/** The host's user model. */
export interface UserInterface {
  /** Which account this is. */
  readonly reference: PersonReference;
  /** Whether this account may sign in now; false for a suspended one. */
  isActive(): boolean;
  /**
   * What is known about this person; the consent screen shows it and the granted scopes release it.
   */
  getProfile(): Profile;
}

/** The most characters that the store accepts. */
const LONGEST = { provider: 64, id: 255 } as const;

/**
 * Why this cannot be an account, or null. Some engines change ill-formed text, so that two people
 * could become one. They refuse or cut NUL and long text, each in its own way.
 */
export function personProblem(person: PersonReference): string | null {
  for (const what of ['provider', 'id'] as const) {
    const text: unknown = person[what];
    const problem = typeof text === 'string' ? textProblem(text, LONGEST[what]) : 'is a text';
    if (problem !== null) return `The ${what} of a person ${problem}`;
  }
  return null;
}

function textProblem(text: string, longest: number): string | null {
  if (text === '') return 'is not empty';
  if (!text.isWellFormed() || text.includes('\0')) return 'is well-formed Unicode without NUL';
  // Most are so short that they need no count.
  if (text.length > longest && Array.from(text).length > longest) return `has at most ${longest} characters`;
  return null;
}

/** Whether both name the same account. */
export function samePerson(one: PersonReference, other: PersonReference): boolean {
  return one.provider === other.provider && one.id === other.id;
}
