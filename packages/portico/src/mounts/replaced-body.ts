/**
 * The response headers that describe the body (RFC 9110 section 8). If Portico replaces the
 * application's body, it also removes the application's values of these headers.
 */
export const OF_THE_BODY: readonly string[] = [
  'accept-ranges',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'etag',
  'last-modified',
  'trailer',
  'transfer-encoding',
];
