import { challenges, type DpopRefusal } from '../http/challenges.ts';

/** Why a token is refused. */
export type Problem = 'invalid_token' | 'invalid_dpop_proof' | 'insufficient_scope';

export interface Refusal {
  /** RFC 6750 section 3: without a token there is no error. */
  readonly error: Problem | null;
  readonly scope: string;
  /** Without metadata, only a token that does not reach is told the scope. */
  readonly metadata: string | null;
  readonly dpop: DpopRefusal | null;
}

export function refuse({ error, scope, metadata, dpop }: Refusal): Response {
  const isNarrow = error === 'insufficient_scope';
  const parameters = {
    realm: 'oauth',
    error,
    scope: isNarrow || metadata !== null ? scope : null,
    resource_metadata: metadata,
  };
  const isReadable = metadata !== null || dpop !== null;
  const headers = {
    'WWW-Authenticate': challenges(parameters, dpop),
    ...(isReadable ? { 'Access-Control-Expose-Headers': 'WWW-Authenticate' } : {}),
  };
  return Response.json({ error: error ?? 'invalid_token' }, { status: isNarrow ? 403 : 401, headers });
}
