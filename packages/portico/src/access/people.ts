import { personProblem, type PersonReference } from '../contracts/person.ts';
import { AccessError } from '../errors.ts';

/**
 * Returns the person exactly as stored: nothing is trimmed, folded or normalized. Throws an
 * AccessError for an impossible person, so that no engine gets text that it would change.
 */
export function requirePerson({ provider, id }: PersonReference): PersonReference {
  const problem = personProblem({ provider, id });
  if (problem !== null) throw new AccessError(problem);
  return { provider, id };
}
