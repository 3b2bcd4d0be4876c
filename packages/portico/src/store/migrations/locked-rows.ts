/**
 * Rows without data. A transaction that counts rows first writes one of these, so that two such
 * transactions run one after the other.
 */

/**
 * The row in `oauth_waiting_requests` that is written before a request is added. It never expires.
 */
export const BUDGET_ROW = 'budget';

/**
 * The row in `oauth_initial_access_tokens` that is written before a client registers itself. No
 * token has its hash.
 */
export const REGISTRATION_TURN = 'one at a time';
