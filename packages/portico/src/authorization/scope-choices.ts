import type { KeyBinding } from '../tokens/key-binding.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest, ChoosableScopes, ConsentRequest } from '../store/requests.ts';
import { intersectScopes } from '../tokens/scopes.ts';

/** The scopes that users can choose on the consent page. A feature implements this interface. */
export interface ScopeChoices {
  /** Whether the user may leave out this scope even if the client requests it. */
  isOptional(name: string): boolean;
  /**
   * The scopes that the user may add to a request. The page shows only those that the client is
   * registered for but did not request.
   */
  readonly added: readonly string[];
}

/** Whether the user checked the checkbox of this scope. */
export type IsChecked = (name: string) => boolean;

/**
 * Returns the scopes that the user can choose, or undefined if there is nothing to choose. `wanted`
 * contains the requested scopes and the scopes that the client keeps from an earlier authorization.
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
 * Returns the scopes that the client can use. If the request contains no key, leaves out scopes
 * that require a bound token, because a client that proves no key could not exchange a code with
 * these scopes.
 */
export function usableScopes(
  names: readonly string[],
  { thumbprint }: AuthorizationRequest,
  binding: KeyBinding | null,
): readonly string[] {
  if (thumbprint !== null || binding === null) return names;
  return names.filter((name) => !binding.scopes.has(name));
}

/** Returns the scopes that the user can add and that the client is still registered for. */
export function addedScopes({ choices }: ConsentRequest, client: Client): readonly string[] {
  return choices === undefined ? [] : intersectScopes(choices.added, client.scopes);
}

/**
 * Returns the scopes that the user allows: all scopes without a checkbox, and all scopes whose
 * checkbox is checked. A form can contain any fields, so the stored request decides which scopes
 * have a checkbox.
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
 * Whether the user allows at least one scope that the client requested or that the user added.
 * Ignores scopes that come only from an earlier authorization.
 */
export function isPartAllowed(
  { scopes, choices }: ConsentRequest,
  allowed: readonly string[],
): boolean {
  return allowed.some((name) => scopes.includes(name) || choices?.added.includes(name) === true);
}
