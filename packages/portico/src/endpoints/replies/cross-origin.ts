import { allowedFields } from '../../http/preflight.ts';
import type { BindingOffer } from '../../http/challenges.ts';
import type { Reply } from './responses.ts';

/**
 * Headers that allow requests from pages of other origins, always without credentials. A browser
 * application can be a public client, so pages of any origin may call the endpoints that do not
 * read a session. The authorization endpoint is excluded because it reads a session. The
 * introspection endpoint is excluded because browsers do not need it.
 */

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Max-Age': '7200',
} as const;

/**
 * The request headers that pages of other origins may send. MCP clients send `MCP-Protocol-Version`
 * when they request metadata.
 */
const FIELDS = 'Authorization, Content-Type, MCP-Protocol-Version';

/**
 * Returns the reply to a preflight request for an endpoint with these methods. If the endpoint
 * handles methods other than GET and POST, the reply lists the endpoint's methods. The reply also
 * allows the proof header if the server accepts proofs.
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

/**
 * Returns the headers that let pages of any origin read a reply. If the server accepts proofs,
 * these pages can also read the proof header of the reply.
 */
export function readableHeaders(binding: BindingOffer | null): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers':
      binding === null ? EXPOSED : `${EXPOSED}, ${binding.answerField}`,
  };
}
