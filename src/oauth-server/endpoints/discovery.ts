import { documentReply, publicDocument, type PublicDocument } from '../replies/documents.ts';
import type { KeyRing, SigningKey } from '../keys.ts';
import { authorizationServerMetadata, openidProviderMetadata, type MetadataOptions } from '../metadata.ts';
import { answerRoundTrip, ROUND_TRIP_HEADER, type RoundTripOptions } from './round-trip.ts';
import type { Handler } from './endpoint.ts';

const A_MINUTE = 60;
/** A new key signs at once, so a cache may not hide it for long. */
const SOME_SECONDS = 5;

/**
 * GET /.well-known/openid-configuration (OpenID Connect Discovery 1.0 section 4). The doctor sends its question along with a
 * request for it.
 */
export function createOpenidConfigurationEndpoint(options: MetadataOptions & RoundTripOptions): Handler {
  const configuration = documentOfKeys((keys) => openidProviderMetadata(options, keys), A_MINUTE);
  let known: readonly SigningKey[] = [];
  return async (request) => {
    // Keys that are lost, or cannot be read, change nothing here.
    known = await options.keys.published().catch(() => known);
    const reply = documentReply(request, configuration(known));
    const answer = await answerRoundTrip(options, request);
    if (answer === null) return reply;
    return {
      ...reply,
      headers: { ...reply.headers, 'Cache-Control': 'no-store', [ROUND_TRIP_HEADER]: answer },
    };
  };
}

/** GET /.well-known/oauth-authorization-server (RFC 8414 section 3). */
export function createMetadataEndpoint(options: MetadataOptions): Handler {
  const metadata = publicDocument(authorizationServerMetadata(options), A_MINUTE);
  return async (request) => documentReply(request, metadata);
}

/** GET /.well-known/jwks.json (RFC 7517 section 5): every key, the retired ones too. */
export function createJwksEndpoint({ keys }: { readonly keys: Pick<KeyRing, 'published'> }): Handler {
  const keySet = documentOfKeys(
    (published) => ({ keys: published.map((key) => key.publicJwk) }),
    SOME_SECONDS,
  );
  return async (request) => documentReply(request, keySet(await keys.published()));
}

/** A document that is made anew when the keys have changed. */
function documentOfKeys(
  content: (keys: readonly SigningKey[]) => unknown,
  maxAge: number,
): (keys: readonly SigningKey[]) => PublicDocument {
  let made: { readonly of: readonly SigningKey[]; readonly document: PublicDocument } | null = null;
  return (keys) => {
    if (made?.of !== keys) made = { of: keys, document: publicDocument(content(keys), maxAge) };
    return made.document;
  };
}
