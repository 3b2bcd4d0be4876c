/**
 * Rows without data, for locking. A transaction that counts rows first writes one of them. So no
 * two such transactions run at the same time.
 */

/**
 * The row in `oauth_waiting_requests` that a transaction writes before it adds a request. It never
 * expires.
 */
export const BUDGET_ROW = 'budget';

/**
 * The row in `oauth_initial_access_tokens` that a transaction writes before a client registers
 * itself. No token has its hash.
 */
export const REGISTRATION_TURN = 'one at a time';
