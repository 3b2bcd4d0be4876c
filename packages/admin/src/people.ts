import { AccessError, type CompleteHost, type PersonReference, type UserInterface } from 'portico';
import {
  HostTimeoutError,
  inTime,
  isYes,
  requirePerson,
  samePerson,
  shownPerson,
} from 'portico/extension';

/** What the application knows about a user, besides the id. */
export interface KnownPerson {
  readonly name: string | null;
  readonly email: string | null;
  /**
   * The state of the account. `unknown` means that the application did not report the state in
   * time, or failed to report it.
   */
  readonly account: 'active' | 'suspended' | 'gone' | 'unknown';
}

/** A user who matches a search. */
export interface FoundPerson extends KnownPerson {
  readonly person: PersonReference;
}

/** How long a page waits for an answer from the host, in milliseconds. */
const PATIENCE = 3000;
/** The maximum number of accounts that a page loads in parallel. */
const AT_ONCE = 8;
/**
 * The maximum length of a shown name or email address, in characters. Longer values are shortened.
 */
const LONGEST = 100;
/** The maximum number of users that a search shows. */
export const MOST_FOUND = 20;

const UNKNOWN: KnownPerson = { name: null, email: null, account: 'unknown' };

/**
 * Loads what the application knows about these users, and returns a function that looks up one of
 * them. If the host fails or does not answer in time, the page shows only the user's id.
 */
export async function knownPeople(
  { loadAccount }: Pick<CompleteHost, 'loadAccount'>,
  people: readonly PersonReference[],
): Promise<(person: PersonReference) => KnownPerson> {
  const known = new Map<string, KnownPerson>();
  const waiting = [...new Map(people.map((person) => [getKey(person), person])).values()];
  async function loadSome(): Promise<void> {
    for (let person = waiting.pop(); person !== undefined; person = waiting.pop()) {
      const account = await loadAccount(person).catch(() => undefined);
      if (account !== undefined) known.set(getKey(person), describe(account));
    }
  }
  const loading = Promise.all(Array.from({ length: AT_ONCE }, loadSome));
  await inTime(loading, PATIENCE, () => new HostTimeoutError('loadAccount', PATIENCE)).catch(() => {
    waiting.length = 0;
  });
  return (person) => known.get(getKey(person)) ?? UNKNOWN;
}

/**
 * Searches the application's users for this text. Returns the matching users, and whether there are
 * more. Throws an AccessError if the text is empty, too long, or contains invalid characters.
 */
export async function findPeople(
  find: NonNullable<CompleteHost['findPeople']>,
  text: string,
): Promise<{ readonly people: readonly FoundPerson[]; readonly more: boolean }> {
  const wanted = text.trim();
  if (
    wanted === '' ||
    Array.from(wanted).length > LONGEST ||
    !wanted.isWellFormed() ||
    /\p{Cc}/u.test(wanted)
  ) {
    throw new AccessError(
      `Enter a name, an email address or an id, or part of one (1 to ${LONGEST} characters)`,
    );
  }
  const late = () => new HostTimeoutError('findPeople', PATIENCE);
  const answer: unknown = await inTime(find(wanted, MOST_FOUND + 1), PATIENCE, late);
  const found = (Array.isArray(answer) ? answer : []) as readonly UserInterface[];
  const people: FoundPerson[] = [];
  for (const account of found.slice(0, MOST_FOUND)) {
    const person = requirePerson(account.reference);
    if (!people.some((other) => samePerson(other.person, person)))
      people.push({ person, ...describe(account) });
  }
  return { people, more: found.length > MOST_FOUND };
}

function getKey({ provider, id }: PersonReference): string {
  return JSON.stringify([provider, id]);
}

function describe(account: UserInterface | null): KnownPerson {
  if (account === null) return { name: null, email: null, account: 'gone' };
  try {
    const { name, email } = shownPerson(account);
    return {
      name: shortened(name),
      email: shortened(email),
      account: isYes(account.isActive()) ? 'active' : 'suspended',
    };
  } catch {
    return UNKNOWN;
  }
}

/**
 * Returns the string, shortened if it is long. Returns null if the value is empty or not a string,
 * because a host in JavaScript may return any value.
 */
function shortened(text: unknown): string | null {
  if (typeof text !== 'string' || text.trim() === '') return null;
  const characters = Array.from(text.trim());
  return characters.length <= LONGEST
    ? characters.join('')
    : `${characters.slice(0, LONGEST - 1).join('')}…`;
}
