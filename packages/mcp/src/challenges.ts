import { type AuthorizationServer, type BearerErrorCode, token } from 'portico';
import { answerFields, type BindingRefusal, challenges } from 'portico/extension';
import type { McpConfig } from './config.ts';
import { listedScopes, getScope, type CallRefusal, type Guarded } from './tools/tool-access.ts';

type Fields = Readonly<Record<string, string>>;

const NO_FIELDS: Fields = {};

/**
 * The challenges of refusals, as header fields (RFC 6750 section 3, RFC 9728 section 5.1): where to
 * get a token, and the scope that the call needs. They do not list the scopes that the token
 * already has (MCP 2026-07-28, Runtime Insufficient Scope Errors). Without `mcp:oauth:challenge`
 * there are no fields, except for a token that was sent as a bound one: its client depends on them
 * (RFC 9449 section 7.1).
 */
export class Challenges {
  readonly #server: AuthorizationServer;
  /** The URL of the resource metadata. Null without `mcp:oauth:challenge`. */
  readonly #metadataUrl: string | null;
  readonly #supported: readonly string[];
  /** The scopes that a challenge for the whole resource names. */
  readonly listed: readonly string[];

  constructor(server: AuthorizationServer, { oauth }: McpConfig, metadataUrl: string) {
    this.#server = server;
    this.#metadataUrl = oauth.challenge ? metadataUrl : null;
    this.#supported = oauth.scopes_supported.filter((name) => server.offers(name));
    this.listed = listedScopes(server, this.#supported);
  }

  /**
   * For a request that may use nothing here, whatever it calls. Without a token, a client does not
   * learn which tools exist. `binding` is what the refusal says about bound tokens.
   */
  ofResource(error: BearerErrorCode, binding: BindingRefusal | null): Fields {
    if (!this.#isSent(binding)) return NO_FIELDS;
    const isKept = binding !== null || error === 'missing_token' || error === 'insufficient_scope';
    return this.#challenge(isKept ? error : 'invalid_token', this.listed, binding);
  }

  /** For requests that use these tools and others. */
  ofUses(status: 401 | 403, used: readonly Guarded[], binding: BindingRefusal | null): Fields {
    return this.#ofUses(status, used, binding, null);
  }

  /**
   * The same as the text of a challenge, with a description. Null without `mcp:oauth:challenge`.
   */
  described(refused: CallRefusal, used: readonly Guarded[], binding: BindingRefusal | null): string | null {
    if (this.#metadataUrl === null) return null;
    const fields = this.#ofUses(refused.status, used, binding, refused.message);
    return fields['WWW-Authenticate'] ?? null;
  }

  #ofUses(
    status: 401 | 403,
    used: readonly Guarded[],
    binding: BindingRefusal | null,
    description: string | null,
  ): Fields {
    if (!this.#isSent(binding)) return NO_FIELDS;
    const scopes = [...new Set(used.flatMap((each) => this.scopesFor(each)))];
    const error = status === 401 ? 'invalid_token' : 'insufficient_scope';
    return this.#challenge(error, scopes, binding, description);
  }

  /**
   * Whether this request's person lacks the permission for one of these uses, or for the whole
   * resource (null). A challenge would then be wrong: no other token helps, and clients that follow
   * it would ask the person again and again.
   */
  async isOutOfReach(used: readonly Guarded[] | null): Promise<boolean> {
    const person = this.#metadataUrl === null ? undefined : token().user()?.reference;
    if (person === undefined) return false;
    const needed =
      used === null
        ? this.#supported
        : used.flatMap((each) => getScope(each, this.#server, this.#supported) ?? []);
    const held = await this.#server.scopesHeldBy(person, needed);
    return used === null ? held.length === 0 : held.length < needed.length;
  }

  #isSent(binding: BindingRefusal | null): boolean {
    return this.#metadataUrl !== null || binding?.presented === true;
  }

  #challenge(
    error: BearerErrorCode,
    scopes: readonly string[],
    binding: BindingRefusal | null,
    description: string | null = null,
  ): Fields {
    const fields = {
      // RFC 6750 section 3.1: without a token, no error.
      error: error === 'missing_token' ? null : error,
      error_description: description,
      resource_metadata: this.#metadataUrl,
      scope: this.#metadataUrl === null || scopes.length === 0 ? null : scopes.join(' '),
    };
    return { 'WWW-Authenticate': challenges(fields, binding), ...answerFields(binding) };
  }

  /**
   * The scopes that a use needs: its own, and one that reaches the resource, in one challenge.
   */
  scopesFor(used: Guarded): readonly string[] {
    const scope = getScope(used, this.#server, this.#supported);
    if (scope === null) return [];
    const [first] = this.#supported;
    return first === undefined || this.#supported.includes(scope) ? [scope] : [first, scope];
  }
}
