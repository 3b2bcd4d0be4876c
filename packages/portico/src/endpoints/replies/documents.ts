import { jsonText } from '../../http/json.ts';
import { tokenHash } from '../../crypto.ts';
import type { Reply } from './responses.ts';

/** A public document that is serialized once for all requests. */
export interface PublicDocument {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns a document that caches may store for `maxAge` seconds. The ETag changes with the content
 * (RFC 9110 section 8.8.3).
 */
export function publicDocument(content: unknown, maxAge: number): PublicDocument {
  const body = jsonText(content);
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': `public, max-age=${maxAge}`,
    ETag: `"${tokenHash(body)}"`,
  };
  return { body, headers };
}

/** Returns the document, or 304 if the client already has it (RFC 9110 section 13.1.2). */
export function documentReply(request: Request, { body, headers }: PublicDocument): Reply {
  const known = request.headers.get('if-none-match');
  if (known !== null && matches(known, headers['ETag']))
    return { status: 304, headers, body: null };
  return { status: 200, headers, body };
}

function matches(list: string, tag: string | undefined): boolean {
  return list.split(',').some((entry) => {
    const each = entry.trim();
    return each === '*' || each.replace(/^W\//, '') === tag;
  });
}
