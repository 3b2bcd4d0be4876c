/**
 * Rows without data that are locks. A transaction that counts rows changes one of them first. So
 * only one such transaction runs at a time.
 */

/**
 * In `oauth_waiting_requests`. A transaction writes it before it adds a request. It never expires.
 */
export const BUDGET_ROW = 'budget';

/**
 * In `oauth_initial_access_tokens`. A transaction writes it before a client registers itself. Its
 * hash matches no token.
 */
export const REGISTRATION_TURN = 'one at a time';
