// The types for people that the authorization server and the host kit share.
import { isPromise } from 'node:util/types';

/**
 * Identifies an account and contains no data about the person. Sessions store these two values.
 * Portico compares them byte by byte.
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
  /** Whether it has been verified that the email address belongs to the person. */
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
   * Returns the host's data about this person. The consent page shows this data. Clients receive
   * the claims that the granted scopes release.
   */
  getProfile(): Profile;
}

/**
 * Returns the person's profile. TypeScript refuses an async `getProfile()`, or one that returns
 * nothing, but JavaScript does not. If its promise is rejected, the process must not end because
 * nothing handles the rejection.
 */
export function readProfile(user: UserInterface): Profile | null | undefined {
  const profile = user.getProfile();
  if (isPromise(profile)) profile.catch(() => {});
  return profile;
}

/** The maximum number of characters that the store accepts for each value of a reference. */
const LONGEST = { provider: 64, id: 255 } as const;

/**
 * Returns the reason why these values cannot identify an account, or null if they can identify one.
 * Malformed text, NUL and long text are not allowed, because a database engine may change or
 * truncate them. Two people could then have the same identifier.
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
  // Count the characters only if the text can be too long. Most texts are short.
  if (text.length > longest && Array.from(text).length > longest)
    return `must have at most ${longest} characters`;
  return null;
}

/** Returns whether the two references identify the same account. */
export function samePerson(one: PersonReference, other: PersonReference): boolean {
  return one.provider === other.provider && one.id === other.id;
}
