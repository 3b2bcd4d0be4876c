import type { KeyBinding } from '../tokens/key-binding.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest, ChoosableScopes, ConsentRequest } from '../store/requests.ts';
import { intersectScopes } from '../tokens/scopes.ts';

/** The scopes that users can choose on the consent page. A feature implements this interface. */
export interface ScopeChoices {
  /** Returns true if the user may leave out this scope. */
  isOptional(name: string): boolean;
  /**
   * The scopes that the user may add. The page shows those that the client has but did not request.
   */
  readonly added: readonly string[];
}

/** Returns true if the user checked the scope's checkbox. */
export type IsChecked = (name: string) => boolean;

/**
 * Returns what the user can choose, or undefined if there is nothing to choose. `wanted` contains
 * the requested scopes and those from an earlier authorization.
 */
export function choicesFor(
  choices: ScopeChoices | null,
  request: AuthorizationRequest,
  client: Client,
  wanted: readonly string[],
  binding: KeyBinding | null,
): ChoosableScopes | undefined {
  if (choices === null) return undefined;
  const optional = wanted.filter((name) => choices.isOptional(name));
  const added = usableScopes(choices.added, request, binding).filter(
    (name) => client.scopes.includes(name) && !wanted.includes(name),
  );
  return optional.length + added.length === 0 ? undefined : { optional, added };
}

/**
 * Leaves out scopes that require a bound token if the request names no key. The client could not
 * exchange a code with these scopes.
 */
export function usableScopes(
  names: readonly string[],
  { thumbprint }: AuthorizationRequest,
  binding: KeyBinding | null,
): readonly string[] {
  if (thumbprint !== null || binding === null) return names;
  return names.filter((name) => !binding.scopes.has(name));
}

/** Returns the scopes that the user can add and that the client still has. */
export function addedScopes({ choices }: ConsentRequest, client: Client): readonly string[] {
  return choices === undefined ? [] : intersectScopes(choices.added, client.scopes);
}

/**
 * Returns the scopes that the user allows: those without a checkbox, and the checked ones. A form
 * can contain any fields. So the stored request decides which scopes have a checkbox.
 */
export function chosenScopes(
  { choices }: ConsentRequest,
  scopes: readonly string[],
  isChecked: IsChecked,
): readonly string[] {
  if (choices === undefined) return scopes;
  const boxes = new Set([...choices.optional, ...choices.added]);
  return scopes.filter((name) => !boxes.has(name) || isChecked(name));
}

/**
 * Returns true if the user allows at least one requested or added scope. Scopes from an earlier
 * authorization do not count.
 */
export function isPartAllowed(
  { scopes, choices }: ConsentRequest,
  allowed: readonly string[],
): boolean {
  return allowed.some((name) => scopes.includes(name) || choices?.added.includes(name) === true);
}
