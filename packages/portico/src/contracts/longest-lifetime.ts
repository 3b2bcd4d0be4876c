/**
 * The longest lifetime, age or overlap, in seconds: a century. The end of a much longer one does
 * not fit into a Date.
 */
export const LONGEST_LIFETIME = 3_155_760_000;
