import { documentReply, publicDocument, type PublicDocument } from './replies/documents.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import { KEY_SET_MAX_AGE } from '../keys/times.ts';
import type { ProtectedResource } from '../resource/protected-resource.ts';
import {
  authorizationServerMetadata,
  openidProviderMetadata,
  type MetadataAdditions,
} from './metadata.ts';
import type { Server } from '../server.ts';
import { answerRoundTrip, ROUND_TRIP_HEADER } from './round-trip.ts';
import type { Handler } from './endpoint.ts';

const A_MINUTE = 60;

export class Discovery {
  readonly #server: Server;
  readonly #additions: MetadataAdditions;

  constructor(server: Server, additions: MetadataAdditions) {
    this.#server = server;
    this.#additions = additions;
  }

  /**
   * OpenID Connect Discovery 1.0 section 4. If `oauth:server:doctor` sends a question in a request
   * header, the response header contains the answer.
   */
  openidConfiguration(): Handler {
    const [server, additions] = [this.#server, this.#additions];
    const configuration = documentOfKeys(server.keys, (keys) =>
      openidProviderMetadata(server, keys, additions),
    );
    return async (request) => {
      const reply = documentReply(request, await configuration());
      const answer = await answerRoundTrip(server, request);
      if (answer === null) return reply;
      return {
        ...reply,
        headers: { ...reply.headers, 'Cache-Control': 'no-store', [ROUND_TRIP_HEADER]: answer },
      };
    };
  }

  /** RFC 8414 section 3. */
  metadata(): Handler {
    const [server, additions] = [this.#server, this.#additions];
    const content = (keys: readonly SigningKey[]) =>
      authorizationServerMetadata(server, keys, additions);
    const fixed = server.admitsUnverified ? null : publicDocument(content([]), A_MINUTE);
    const metadata = documentOfKeys(server.keys, content);
    return async (request) => documentReply(request, fixed ?? (await metadata()));
  }

  /** RFC 7517 section 5. The response contains all published keys, including retired ones. */
  jwks(): Handler {
    const { keys } = this.#server;
    const keySet = getDocument<readonly SigningKey[]>(
      (published) => ({ keys: published.map((key) => key.publicJwk) }),
      KEY_SET_MAX_AGE,
    );
    return async (request) => documentReply(request, keySet(await keys.published()));
  }
}

/** RFC 9728 section 3. */
export function resourceMetadata(resource: ProtectedResource): Handler {
  const document = getDocument<Readonly<Record<string, unknown>>>((content) => content, A_MINUTE);
  return async (request) => documentReply(request, document(resource.metadata()));
}

/** If the keys are lost or unreadable, uses the keys that it last read. */
function documentOfKeys(
  keys: KeyRing,
  content: (known: readonly SigningKey[]) => unknown,
): () => Promise<PublicDocument> {
  let known: readonly SigningKey[] = [];
  const document = getDocument(content, A_MINUTE);
  return async () => {
    known = await keys.published().catch(() => known);
    return document(known);
  };
}

/** Builds the document again only if its source has changed. */
function getDocument<Source>(
  content: (source: Source) => unknown,
  maxAge: number,
): (source: Source) => PublicDocument {
  let made: { readonly of: Source; readonly document: PublicDocument } | null = null;
  return (source) => {
    if (made?.of !== source)
      made = { of: source, document: publicDocument(content(source), maxAge) };
    return made.document;
  };
}
