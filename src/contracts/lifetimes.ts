/** The longest time that a lifetime, an age or an overlap may be, in seconds: a century. The ends of longer ones are no dates. */
export const LONGEST_LIFETIME = 3_155_760_000;
