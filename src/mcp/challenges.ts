import { challenges, type DpopRefusal } from '../http/challenges.ts';
import { token, type AuthorizationServer, type BearerErrorCode } from '../oauth-server/index.ts';
import type { McpConfig } from './config.ts';
import { listedScopes, scopeOf } from './tool-access.ts';
import type { RegisteredTool } from './tools.ts';

type Fields = Readonly<Record<string, string>>;

/**
 * The challenges of refusals, as header fields (RFC 6750 section 3, RFC 9728 section 5.1): where a token comes from, and the scope that
 * the call needs, nothing of what the token has already (MCP 2026-07-28, Runtime Insufficient Scope Errors). No fields without
 * `mcp:oauth:challenge`, but for a token of the scheme DPoP: its client goes by them (RFC 9449 section 7.1).
 */
export interface Challenges {
  /**
   * For a request that reaches nothing here, whatever it calls: nobody without a token learns which tools there are. `dpop` is what
   * the refusal says of DPoP.
   */
  readonly ofResource: (error: BearerErrorCode, dpop: DpopRefusal | null) => Fields;
  /** For calls of these tools. */
  readonly ofTools: (status: 401 | 403, tools: readonly RegisteredTool[], dpop: DpopRefusal | null) => Fields;
  /**
   * Whether the person of this request lacks the permission for one of these tools, or for the whole resource (null). A challenge would be
   * a lie then: no other token helps, and clients that follow it ask the person again and again.
   */
  readonly isOutOfReach: (tools: readonly RegisteredTool[] | null) => Promise<boolean>;
}

const NO_FIELDS: Fields = {};

export function createChallenges(
  server: Pick<AuthorizationServer, 'config' | 'offers' | 'scopesHeldBy'>,
  { oauth }: Pick<McpConfig, 'oauth'>,
  metadataUrl: string,
): Challenges {
  const supported = oauth.scopes_supported.filter((name) => server.offers(name));
  const listed = listedScopes(server, supported);
  const [first = null] = supported;

  function challenge(
    error: BearerErrorCode,
    scopes: readonly string[],
    dpop: DpopRefusal | null = null,
  ): Fields {
    const fields = {
      // RFC 6750 section 3.1: without a token, no error.
      error: error === 'missing_token' ? null : error,
      resource_metadata: oauth.challenge ? metadataUrl : null,
      scope: !oauth.challenge || scopes.length === 0 ? null : scopes.join(' '),
    };
    const nonce = dpop?.nonce ?? null;
    return {
      'WWW-Authenticate': challenges(fields, dpop),
      ...(nonce === null ? {} : { 'DPoP-Nonce': nonce }),
    };
  }

  /** What a call needs: the scope of its tool, and one that reaches the resource, in one challenge. */
  function scopesOf(tool: RegisteredTool): readonly string[] {
    const scope = scopeOf(tool, server, supported);
    if (scope === null) return [];
    return first === null || supported.includes(scope) ? [scope] : [first, scope];
  }

  const missing = challenge('missing_token', listed);
  const invalid = challenge('invalid_token', listed);
  const insufficient = challenge('insufficient_scope', listed);
  const goesBy = (dpop: DpopRefusal | null) => oauth.challenge || dpop?.presented === true;
  return {
    ofResource(error, dpop) {
      if (!goesBy(dpop)) return NO_FIELDS;
      if (dpop !== null) return challenge(error, listed, dpop);
      return error === 'missing_token' ? missing : error === 'insufficient_scope' ? insufficient : invalid;
    },
    ofTools(status, tools, dpop) {
      if (!goesBy(dpop)) return NO_FIELDS;
      const scopes = [...new Set(tools.flatMap(scopesOf))];
      return challenge(status === 401 ? 'invalid_token' : 'insufficient_scope', scopes, dpop);
    },
    async isOutOfReach(tools) {
      if (!oauth.challenge) return false;
      const person = token().user()?.reference;
      if (person === undefined) return false;
      const needed =
        tools === null ? supported : tools.flatMap((tool) => scopeOf(tool, server, supported) ?? []);
      const held = await server.scopesHeldBy(person, needed);
      return tools === null ? held.length === 0 : held.length < needed.length;
    },
  };
}
