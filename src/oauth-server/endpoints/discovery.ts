import { documentReply, publicDocument, type PublicDocument } from '../documents.ts';
import type { SigningKey } from '../keys.ts';
import { authorizationServerMetadata, openidProviderMetadata } from '../metadata.ts';
import type { Reply } from '../responses.ts';
import { answerRoundTrip, ROUND_TRIP_HEADER } from '../round-trip.ts';
import type { ServerContext } from '../server-context.ts';

const A_MINUTE = 60;
/** A new key signs at once, so a cache may not hide it for long. */
const SOME_SECONDS = 5;

/** Made once for each server, or for each set of keys. */
function onceFor<Key extends object>(make: (key: Key) => PublicDocument): (key: Key) => PublicDocument {
  const made = new WeakMap<Key, PublicDocument>();
  return (key) => {
    let document = made.get(key);
    if (document === undefined) {
      document = make(key);
      made.set(key, document);
    }
    return document;
  };
}

const openidConfiguration = onceFor((context: ServerContext) =>
  publicDocument(openidProviderMetadata(context), A_MINUTE),
);
const metadata = onceFor((context: ServerContext) =>
  publicDocument(authorizationServerMetadata(context), A_MINUTE),
);
const keySet = onceFor((keys: readonly SigningKey[]) =>
  publicDocument({ keys: keys.map((key) => key.publicJwk) }, SOME_SECONDS),
);

/** GET /.well-known/openid-configuration (OpenID Connect Discovery 1.0 section 4). The doctor's question rides along. */
export async function openidConfigurationEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  const reply = documentReply(request, openidConfiguration(context));
  const answer = await answerRoundTrip(context, request);
  if (answer === null) return reply;
  return {
    ...reply,
    headers: { ...reply.headers, 'Cache-Control': 'no-store', [ROUND_TRIP_HEADER]: answer },
  };
}

/** GET /.well-known/oauth-authorization-server (RFC 8414 section 3). */
export async function authorizationServerEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  return documentReply(request, metadata(context));
}

/** GET /.well-known/jwks.json (RFC 7517 section 5): every key, the retired ones too. */
export async function jwksEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  return documentReply(request, keySet(await context.keys.published()));
}
