/**
 * Rows without data. A transaction writes one of them first, so that two transactions count one
 * after the other.
 */

/** In `oauth_waiting_requests`: written before a request is added. It never expires. */
export const BUDGET_ROW = 'budget';

/**
 * In `oauth_initial_access_tokens`: written before a client registers itself. No token has its
 * hash.
 */
export const REGISTRATION_TURN = 'one at a time';
