/** The types for people that the authorization server and the host kit share. */

/**
 * Identifies an account and contains no data about it. Sessions store this pair. Portico compares
 * it byte by byte.
 */
export interface PersonReference {
  /** The account provider's name, at most 64 characters. */
  readonly provider: string;
  /** The account's identifier within its provider, at most 255 characters. */
  readonly id: string;
}

/** A person's standard claims (OpenID Connect Core 5.1), as far as the host knows them. */
export interface Profile {
  /** The full name, for display. */
  readonly name?: string | undefined;
  /** The person's email address. */
  readonly email?: string | undefined;
  /** Whether the address has been verified as the person's. */
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
   * Returns what the host knows about this person. The consent screen shows it, and clients receive
   * the parts that the granted scopes cover.
   */
  getProfile(): Profile;
}

/** The maximum number of characters that the store accepts. */
const LONGEST = { provider: 64, id: 255 } as const;

/**
 * Returns why this cannot identify an account, or null if it can. Some engines change ill-formed
 * text, so that two people could become one. Engines also differ in how they reject or cut NUL and
 * long text.
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
  // Most texts are short, so counting their characters is not necessary.
  if (text.length > longest && Array.from(text).length > longest)
    return `has at most ${longest} characters`;
  return null;
}

/** Whether both name the same account. */
export function samePerson(one: PersonReference, other: PersonReference): boolean {
  return one.provider === other.provider && one.id === other.id;
}
