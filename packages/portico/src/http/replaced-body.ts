/**
 * The header fields of an answer that are about its body (RFC 9110 section 8). What the application has written into them belongs to a
 * body that an answer of Portico replaces: it is left out.
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
