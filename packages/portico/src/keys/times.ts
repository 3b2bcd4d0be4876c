/** How long a cache may keep the key set (`Cache-Control`), in seconds: a key that is generated signs at once. */
export const KEY_SET_MAX_AGE = 5;

/**
 * How long a staged key is published before it signs, in seconds. Some libraries keep a key set for ten minutes, whatever its
 * `Cache-Control` says; clocks of machines differ by seconds, and NFS may show a file a minute late.
 */
export const STAGED_FOR = KEY_SET_MAX_AGE + 900;

/** How old a listing of the key directory may be that decides which key signs, in milliseconds. */
export const RELOAD_AFTER = 1000;
