import { queryParameters } from '../../parameters.ts';
import { jsonReply, type Reply } from '../../replies/responses.ts';
import type { LogoRecords } from '../../store/sql/logos.ts';

/** A year: another logo has another address. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Whatever is in the bytes: opened by itself it runs nothing, and no browser guesses another type than the one that was looked at. */
const HARMLESS = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** GET /oauth/logo: the logo that an operator gave the client `client_id`, when its hash is `v`. It reads no session. */
export function createLogoEndpoint({ store }: { readonly store: LogoRecords }) {
  return async (request: Request): Promise<Reply> => {
    const asked = queryParameters(request);
    const [clientId, hash] = [asked.get('client_id') ?? '', asked.get('v') ?? ''];
    const logo = isPlain(clientId) && isPlain(hash) ? await store.findLogo(clientId, hash) : null;
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

/** No other text reaches the store: not every engine takes any. */
function isPlain(text: string): boolean {
  return /^[\x21-\x7E]{1,255}$/.test(text);
}
