import { JWT_SVID_ASSERTION } from '../../clients/reading-assertions.ts';
import type { AssertionGrant } from '../../grants/assertion-grant.ts';
import { JwsError, parseJws, type JsonObject } from '../../keys/jws/compact.ts';
import { createParameters } from '../../parameters.ts';
import type { Server } from '../../server.ts';
import { typeOfIssuer, typesOfToken } from './workload-tokens.ts';

/** The `grant_type` of the request (RFC 7523 section 2.1). */
export const JWT_BEARER_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The form fields that this feature replaces. */
const CHANGED = ['grant_type', 'assertion'] as const;
/** Fields of other authentication methods. This feature ignores requests with one of them. */
const CREDENTIALS = ['client_secret', 'client_assertion', 'client_assertion_type'] as const;

/**
 * Converts a workload's token request (MCP, SEP-1933). The request contains the workload's token as
 * `assertion` and the client's id. The converted request has the grant `client_credentials` and the
 * token as `client_assertion`.
 */
export function workloadGrant(server: Server): AssertionGrant {
  return async (request, form) => {
    const assertion = form.get('assertion');
    const clientId = form.get('client_id');
    if (form.get('grant_type') !== JWT_BEARER_GRANT || assertion === undefined) return null;
    if (clientId === undefined || request.headers.has('authorization')) return null;
    if (CREDENTIALS.some((name) => form.has(name))) return null;
    const type = await typeOf(server, assertion, clientId);
    const kept = [...form.values].filter(([name]) => !CHANGED.some((each) => each === name));
    return createParameters(
      new URLSearchParams([
        ...kept.filter(([, value]) => value !== ''),
        ['grant_type', 'client_credentials'],
        ['client_assertion', assertion],
        ['client_assertion_type', type],
      ]),
    );
  };
}

/**
 * Returns the `client_assertion_type` for this token. A token without a trusted issuer gets the
 * type of SPIFFE tokens. The server then rejects it like any other invalid token, so an attacker
 * cannot find out which issuers the server trusts.
 */
async function typeOf(server: Server, assertion: string, clientId: string): Promise<string> {
  const claims = claimsOf(assertion);
  const types = claims === null ? [] : typesOfToken(server, claims);
  const [first = JWT_SVID_ASSERTION] = types;
  if (types.length < 2) return first;
  const client = await server.store.clients.findClient(clientId);
  const issuer = client?.keys?.workload?.issuer;
  return issuer === undefined ? first : typeOfIssuer(issuer);
}

/** Returns the claims before verification, or null if the string is not a JWT. */
function claimsOf(assertion: string): JsonObject | null {
  try {
    return parseJws(assertion).payload;
  } catch (error) {
    if (error instanceof JwsError) return null;
    throw error;
  }
}
