import { allowedFields } from '../../http/preflight.ts';
import type { BindingOffer } from '../../http/challenges.ts';
import type { Reply } from './responses.ts';

/**
 * Headers for pages of other origins, always without credentials. A browser application can be a
 * public client, so any origin may call the endpoints that read no session. The authorization
 * endpoint reads one. Browsers do not need the introspection endpoint.
 */

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Max-Age': '7200',
} as const;

/**
 * The request headers that pages of other origins may send. MCP clients request metadata with
 * `MCP-Protocol-Version`.
 */
const FIELDS = 'Authorization, Content-Type, MCP-Protocol-Version';

/**
 * Returns the reply to a preflight request. Lists the methods if there are others than GET and
 * POST. Allows the proof header if the server accepts proofs.
 */
export function preflight(
  request: Request,
  methods: readonly string[],
  binding: BindingOffer | null,
): Reply {
  const named = methods.every((method) => method === 'GET' || method === 'POST')
    ? {}
    : { 'Access-Control-Allow-Methods': methods.join(', ') };
  const fields = allowedFields(
    request,
    binding === null ? FIELDS : `${FIELDS}, ${binding.proofField}`,
  );
  return { status: 204, headers: { ...PREFLIGHT_HEADERS, ...named, ...fields }, body: null };
}

const EXPOSED = 'WWW-Authenticate, Retry-After, X-Request-Id';

/** Lets pages of any origin read a reply, and its proof header if the server accepts proofs. */
export function readableHeaders(binding: BindingOffer | null): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers':
      binding === null ? EXPOSED : `${EXPOSED}, ${binding.answerField}`,
  };
}
