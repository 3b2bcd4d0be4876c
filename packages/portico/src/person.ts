// The authorization server and the host kit share these types.
import { isPromise } from 'node:util/types';

/**
 * Identifies an account, without data about the person. Sessions store these two values. Portico
 * compares them byte by byte.
 */
export interface PersonReference {
  /** The account provider's name, at most 64 characters. */
  readonly provider: string;
  /** The account's identifier within its provider, at most 255 characters. */
  readonly id: string;
}

/** The standard claims about a person (OpenID Connect Core section 5.1) that the host knows. */
export interface Profile {
  /** The full name, for display. */
  readonly name?: string | undefined;
  /** The person's email address. */
  readonly email?: string | undefined;
  /** True if the email address is known to belong to the person. */
  readonly email_verified?: boolean | undefined;
  readonly [claim: string]: unknown;
}

/** A person with an account in your application. Your user model implements this interface. */
export interface UserInterface {
  /** Identifies this account. */
  readonly reference: PersonReference;
  /** Returns whether this account may sign in now. Return false for a suspended account. */
  isActive(): boolean;
  /**
   * Returns the host's data about this person. The consent page shows it. Clients get the claims
   * that the granted scopes release.
   */
  getProfile(): Profile;
}

/**
 * TypeScript refuses a `getProfile()` that is async or returns nothing, but JavaScript does not.
 * The rejection of such a promise must not end the process.
 */
export function readProfile(user: UserInterface): Profile | null | undefined {
  const profile = user.getProfile();
  if (isPromise(profile)) profile.catch(() => {});
  return profile;
}

/** In characters, as the store accepts them. */
const LONGEST = { provider: 64, id: 255 } as const;

/**
 * Returns why these values cannot identify an account, or null. A database engine may change or cut
 * malformed text, NUL and long text. Two people could then have the same identifier.
 */
export function personProblem(person: PersonReference | undefined): string | null {
  for (const what of ['provider', 'id'] as const) {
    const text: unknown = person?.[what];
    const problem =
      typeof text === 'string'
        ? textProblem(text, LONGEST[what])
        : `must be a text, but its type is ${typeof text}`;
    if (problem !== null) return `The ${what} of a person ${problem}`;
  }
  return null;
}

function textProblem(text: string, longest: number): string | null {
  if (text === '') return 'must not be empty';
  if (!text.isWellFormed() || text.includes('\0')) return 'must be well-formed Unicode without NUL';
  // Most texts are short. Count the characters only of a long one.
  if (text.length > longest && Array.from(text).length > longest)
    return `must have at most ${longest} characters`;
  return null;
}

/** Returns whether the two references identify the same account. */
export function samePerson(one: PersonReference, other: PersonReference): boolean {
  return one.provider === other.provider && one.id === other.id;
}
