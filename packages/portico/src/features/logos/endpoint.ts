import type { Handler } from '../../endpoints/endpoint.ts';
import { queryParameters } from '../../parameters.ts';
import { jsonReply } from '../../replies/responses.ts';
import type { LogoRecords } from '../../store/sql/logos.ts';

/** A year: a new logo has a new URL. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * For any bytes: opened directly the image runs nothing, and no browser guesses another type than
 * the checked one.
 */
const HARMLESS = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/**
 * GET /oauth/logo: the logo that an operator gave the client `client_id`, when its hash is `v`. It
 * reads no session.
 */
export function logoEndpoint(logos: LogoRecords): Handler {
  return async (request) => {
    const asked = queryParameters(request);
    const [clientId, hash] = [asked.get('client_id') ?? '', asked.get('v') ?? ''];
    const logo = isPlain(clientId) && isPlain(hash) ? await logos.findLogo(clientId, hash) : null;
    if (logo === null) {
      return jsonReply({ error: 'invalid_request', error_description: 'There is no such logo.' }, 404);
    }
    return {
      status: 200,
      headers: { 'Content-Type': logo.mediaType, 'Cache-Control': FOR_EVER, ...HARMLESS },
      body: logo.bytes,
    };
  };
}

/** No other text reaches the store, because not every engine accepts any text. */
function isPlain(text: string): boolean {
  return /^[\x21-\x7E]{1,255}$/.test(text);
}
