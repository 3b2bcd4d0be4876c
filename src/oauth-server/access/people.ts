import type { PersonReference } from '../../contracts/person.ts';
import { AccessError } from '../errors.ts';

/** As long as a PersonReference says, and as the store takes. */
const LONGEST = { provider: 64, id: 255 } as const;

/**
 * The person as they are kept: nothing is trimmed, folded or normalized. Throws an AccessError for one that nobody can be, so that no
 * engine is given text that it would make into another.
 */
export function requirePerson({ provider, id }: PersonReference): PersonReference {
  for (const [what, text] of Object.entries({ provider, id })) {
    if (text === '') throw new AccessError(`The ${what} of a person is not empty`);
    if (Array.from(text).length > LONGEST[what as keyof typeof LONGEST]) {
      throw new AccessError(
        `The ${what} of a person has at most ${LONGEST[what as keyof typeof LONGEST]} characters`,
      );
    }
    if (!text.isWellFormed() || text.includes('\0')) {
      throw new AccessError(`The ${what} of a person is well-formed Unicode without NUL`);
    }
  }
  return { provider, id };
}
