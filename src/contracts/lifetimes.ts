/** The longest time that a lifetime, an age or an overlap may be, in seconds: a century. Times after much longer ones are no valid Date. */
export const LONGEST_LIFETIME = 3_155_760_000;
