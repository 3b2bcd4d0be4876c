import { personProblem, type PersonReference } from '../contracts/person.ts';
import { AccessError } from '../errors.ts';

/**
 * The person as they are kept: nothing is trimmed, folded or normalized. Throws an AccessError for one that nobody can be, so that no
 * engine is given text that it would make into another.
 */
export function requirePerson({ provider, id }: PersonReference): PersonReference {
  const problem = personProblem({ provider, id });
  if (problem !== null) throw new AccessError(problem);
  return { provider, id };
}
