/**
 * The longest lifetime, age or overlap in a setting, in seconds: one century. Much longer periods
 * would end at a time that a Date cannot represent.
 */
export const LONGEST_LIFETIME = 3_155_760_000;

/**
 * How long caches may keep the key set (`Cache-Control`), in seconds. The time is short: a key
 * without staging signs immediately.
 */
export const KEY_SET_MAX_AGE = 5;

/**
 * How long a staged key is published before it signs, in seconds. Some libraries ignore
 * `Cache-Control` and cache a key set for ten minutes. Clocks can differ by seconds, and NFS can
 * show a new file a minute late.
 */
export const STAGED_FOR = KEY_SET_MAX_AGE + 900;

/** In milliseconds: the maximum age of the directory listing that decides which key signs. */
export const RELOAD_AFTER = 1000;
