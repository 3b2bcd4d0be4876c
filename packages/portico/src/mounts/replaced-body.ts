/**
 * The headers that describe the body (RFC 9110 section 8). When Portico replaces the application's
 * body, it removes them.
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
