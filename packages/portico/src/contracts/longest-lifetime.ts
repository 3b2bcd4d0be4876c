/**
 * The longest time that a lifetime, an age or an overlap may be, in seconds: a century. The end of
 * a much longer one could not be written as a Date.
 */
export const LONGEST_LIFETIME = 3_155_760_000;
