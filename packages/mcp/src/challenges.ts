import { type AuthorizationServer, type BearerErrorCode, type ProtectedApi, token } from 'portico';
import { answerFields, type BindingRefusal, challenges } from 'portico/extension';
import type { McpConfig } from './config.ts';
import { listedScopes, getScope, type CallRefusal, type Guarded } from './tools/tool-access.ts';

type Fields = Readonly<Record<string, string>>;

const NO_FIELDS: Fields = {};

/** The parts of the MCP endpoint that a challenge describes. */
interface Challenged {
  readonly server: AuthorizationServer;
  readonly api: ProtectedApi;
  readonly config: McpConfig;
}

/**
 * Creates the challenge headers for 401 and 403 responses (RFC 6750 section 3, RFC 9728 section
 * 5.1). A challenge tells the client where to get a token, and which scopes the call needs. It does
 * not list other scopes that the token has (MCP 2026-07-28, Runtime Insufficient Scope Errors).
 * Without `mcp:oauth:challenge`, the endpoint sends challenges only for tokens that are bound to a
 * key (RFC 9449 section 7.1).
 */
export class Challenges {
  readonly #server: AuthorizationServer;
  readonly #api: ProtectedApi;
  /** The URL of the resource metadata. Null without `mcp:oauth:challenge`. */
  readonly #metadataUrl: string | null;
  readonly #supported: readonly string[];
  /** The scopes for a challenge about the whole resource. */
  readonly listed: readonly string[];

  constructor({ server, api, config: { oauth } }: Challenged, metadataUrl: string) {
    this.#server = server;
    this.#api = api;
    this.#metadataUrl = oauth.challenge ? metadataUrl : null;
    this.#supported = oauth.scopes_supported.filter((name) => api.offers(name));
    this.listed = listedScopes(server, this.#supported);
  }

  /**
   * Returns the headers for a request whose token gives no access to this endpoint. They do not
   * tell a client without a token which tools exist. `binding` is the part of the challenge about
   * tokens that are bound to a key.
   */
  ofResource(error: BearerErrorCode, binding: BindingRefusal | null): Fields {
    if (!this.#isSent(binding)) return NO_FIELDS;
    const isKept = binding !== null || error === 'missing_token' || error === 'insufficient_scope';
    return this.#challenge(isKept ? error : 'invalid_token', this.listed, binding);
  }

  /**
   * Returns the headers for a request that uses these guarded tools or resources, but whose token
   * does not allow them.
   */
  ofUses(status: 401 | 403, used: readonly Guarded[], binding: BindingRefusal | null): Fields {
    return this.#ofUses(status, used, binding, null);
  }

  /**
   * Returns the challenge from `ofUses` as text. The error message is its description. Returns null
   * without `mcp:oauth:challenge`.
   */
  described(
    refused: CallRefusal,
    used: readonly Guarded[],
    binding: BindingRefusal | null,
  ): string | null {
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
   * Whether the user lacks a permission that one of these uses needs. If `used` is null, whether
   * the user has no permission for any scope in `scopes_supported`. If true, the endpoint sends no
   * challenge. No other token would help this user, so clients would only ask for authorization
   * again and again. Always false without `mcp:oauth:challenge`, and for a token without a user.
   */
  async isOutOfReach(used: readonly Guarded[] | null): Promise<boolean> {
    const person = this.#metadataUrl === null ? undefined : token().user()?.reference;
    if (person === undefined) return false;
    const needed =
      used === null
        ? this.#supported
        : used.flatMap((each) => getScope(each, this.#api, this.#supported) ?? []);
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
      // If the request had no token, omit the error from the challenge (RFC 6750 section 3.1).
      error: error === 'missing_token' ? null : error,
      error_description: description,
      resource_metadata: this.#metadataUrl,
      scope: this.#metadataUrl === null || scopes.length === 0 ? null : scopes.join(' '),
    };
    return { 'WWW-Authenticate': challenges(fields, binding), ...answerFields(binding) };
  }

  /**
   * Returns the scopes for the challenge: the scope that the tool or resource needs, or none if it
   * is public. If this scope gives no access to the endpoint, also returns one that does.
   */
  scopesFor(used: Guarded): readonly string[] {
    const scope = getScope(used, this.#api, this.#supported);
    if (scope === null) return [];
    const [first] = this.#supported;
    return first === undefined || this.#supported.includes(scope) ? [scope] : [first, scope];
  }
}
