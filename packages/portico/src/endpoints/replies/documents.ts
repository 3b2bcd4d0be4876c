import { jsonText } from '../../http/json.ts';
import { publicCacheControl } from '../../http/public-cache.ts';
import { tokenHash } from '../../crypto.ts';
import type { Reply } from './responses.ts';

/** A public document. It is serialized only once. */
export interface PublicDocument {
  readonly body: string;
  readonly etag: string;
  /** How long caches may store the document, in seconds. */
  readonly maxAge: number;
}

/**
 * Serializes a document that caches may store for `maxAge` seconds. The ETag changes with the
 * content (RFC 9110 section 8.8.3).
 */
export function publicDocument(content: unknown, maxAge: number): PublicDocument {
  const body = jsonText(content);
  return { body, etag: `"${tokenHash(body)}"`, maxAge };
}

/** Returns the document, or 304 if the client has this version of it (RFC 9110 section 13.1.2). */
export function documentReply(request: Request, { body, etag, maxAge }: PublicDocument): Reply {
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': publicCacheControl(request, `max-age=${maxAge}`),
    ETag: etag,
  };
  const known = request.headers.get('if-none-match');
  if (known !== null && matches(known, etag)) return { status: 304, headers, body: null };
  return { status: 200, headers, body };
}

function matches(list: string, tag: string): boolean {
  return list.split(',').some((entry) => {
    const each = entry.trim();
    return each === '*' || each.replace(/^W\//, '') === tag;
  });
}
