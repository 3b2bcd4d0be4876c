import type { PersonReference } from '../person.ts';
import type { ProtectedResources } from '../resource/protected-resource.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRequest, ChoosableScopes, ConsentRequest } from '../store/requests.ts';
import { intersectScopes, scopesHeldBy } from '../tokens/scopes.ts';
import type { AuthorizationAdditions } from './additions.ts';
import { addedScopes, choicesFor, usableScopes } from './scope-choices.ts';

export interface ScopesToAsk {
  readonly scopes: readonly string[];
  /**
   * The scopes that the person has allowed before. Always empty, unless clients may request the
   * resource's scopes step by step.
   */
  readonly before: readonly string[];
}

/** Decides which scopes a person may grant to a client (AS-8). */
export class GrantableScopes {
  readonly #server: Server;
  readonly #additions: AuthorizationAdditions;
  readonly #resources: ProtectedResources;

  constructor(server: Server, additions: AuthorizationAdditions, resources: ProtectedResources) {
    this.#server = server;
    this.#additions = additions;
    this.#resources = resources;
  }

  async ofNew(
    request: AuthorizationRequest,
    client: Client,
    person: PersonReference,
  ): Promise<ScopesToAsk & { readonly choices: ChoosableScopes | undefined }> {
    const before = await this.#allowedBefore(client, person, request.audience);
    const { scopeChoices, binding } = this.#additions;
    const earlier = before.filter(isKept);
    // A client that always proves a key need not name the key in the request.
    const isProver = binding?.offer.required === true || client.dpopBoundAccessTokens;
    const kept = isProver ? earlier : usableScopes(earlier, request, binding);
    const wanted = kept.length === 0 ? request.scopes : union(request.scopes, kept);
    const choices = choicesFor(scopeChoices, request, client, wanted, binding);
    const shown = choices === undefined ? wanted : union(wanted, choices.added);
    return { scopes: await this.#held(shown, request, person), before, choices };
  }

  /** Returns the scopes from the consent page that the person may still grant. */
  async ofSaved(
    saved: ConsentRequest,
    client: Client,
    person: PersonReference,
  ): Promise<ScopesToAsk> {
    const before = await this.#allowedBefore(client, person, saved.audience);
    // Never add scopes that the page did not show. It may be open in another tab.
    const scopes = await this.#held(shownScopes(saved, client, before), saved, person);
    return { scopes, before };
  }

  /** Always empty, unless clients may request the resource's scopes step by step. */
  async #allowedBefore(
    client: Client,
    person: PersonReference,
    audience: string | null,
  ): Promise<readonly string[]> {
    const { earlierScopes } = this.#additions;
    const isAsked = earlierScopes !== null && this.#resources.of(audience).needs().stepUp === true;
    return isAsked ? earlierScopes(client, person, audience) : NOTHING;
  }

  /** Returns the scopes that the resource has and that the person may grant. */
  #held(
    names: readonly string[],
    { audience }: AuthorizationRequest,
    person: PersonReference,
  ): Promise<readonly string[]> {
    const { host, resources } = this.#server;
    return scopesHeldBy(host, resources.scopesOf(audience), names, person);
  }
}

const NOTHING: readonly string[] = [];

/**
 * Returns true if the person may grant at least one requested scope. Ignores earlier scopes and
 * scopes that the person can add.
 */
export function isPartHeld({ scopes }: AuthorizationRequest, held: readonly string[]): boolean {
  return held.some((name) => scopes.includes(name));
}

/**
 * Returns the requested scopes that the client still has. A document may change at any time, so a
 * document client keeps all of them.
 */
export function registeredScopes(
  { scopes, shownName }: ConsentRequest,
  client: Client,
): readonly string[] {
  return shownName === undefined ? intersectScopes(scopes, client.scopes) : scopes;
}

/**
 * Returns the scopes that the consent page showed. Leaves out requested scopes that the client no
 * longer has. Leaves out earlier scopes that were revoked, unless the client requested them again.
 */
function shownScopes(
  saved: ConsentRequest,
  client: Client,
  before: readonly string[],
): readonly string[] {
  const kept = union(registeredScopes(saved, client), before);
  return intersectScopes(saved.asked.scopes, union(kept, addedScopes(saved, client)));
}

/** A new authorization never keeps `openid`. Clients must request it every time (AS-1.3). */
const isKept = (scope: string) => scope !== 'openid';

function union(first: readonly string[], second: readonly string[]): readonly string[] {
  return [...new Set([...first, ...second])];
}
