import type { Handler } from '../../endpoints/endpoint.ts';
import { publicCacheControl } from '../../http/public-cache.ts';
import { queryParameters } from '../../parameters.ts';
import { jsonReply } from '../../endpoints/replies/responses.ts';
import type { LogoRecords } from './records.ts';

/** A new logo gets a new URL, so caches may keep a logo for a year. */
const FOR_EVER = 'max-age=31536000, immutable';

/**
 * Even if a user opens an image directly, the browser runs no code and does not guess another media
 * type.
 */
const HARMLESS = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** Handles GET /oauth/logo. Returns the client's logo with the hash `v`. Reads no session. */
export function logoEndpoint(logos: LogoRecords): Handler {
  return async (request) => {
    const asked = queryParameters(request);
    const [clientId, hash] = [asked.get('client_id') ?? '', asked.get('v') ?? ''];
    const logo = isPlain(clientId) && isPlain(hash) ? await logos.findLogo(clientId, hash) : null;
    if (logo === null) {
      return jsonReply(
        { error: 'invalid_request', error_description: 'There is no such logo.' },
        404,
      );
    }
    return {
      status: 200,
      headers: {
        'Content-Type': logo.mediaType,
        'Cache-Control': publicCacheControl(request, FOR_EVER),
        ...HARMLESS,
      },
      body: logo.bytes,
    };
  };
}

/** Some databases reject certain characters. Every database accepts these. */
function isPlain(text: string): boolean {
  return /^[\x21-\x7E]{1,255}$/.test(text);
}
