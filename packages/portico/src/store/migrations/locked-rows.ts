/**
 * Rows without data that serve as locks. Before a transaction counts rows, it changes one of these
 * rows, so only one such transaction runs at a time.
 */

/**
 * The row in `oauth_waiting_requests` that a transaction writes before it adds a request. It never
 * expires.
 */
export const BUDGET_ROW = 'budget';

/**
 * The row in `oauth_initial_access_tokens` that a transaction writes before a client registers
 * itself. The row's hash matches no token.
 */
export const REGISTRATION_TURN = 'one at a time';
