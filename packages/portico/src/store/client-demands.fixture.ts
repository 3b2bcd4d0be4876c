import type { ClientDemand } from './client-demands.ts';

const TOLD = {
  key: 'some_key',
  effect: 'no request gets further',
  option: { flag: '--demand', says: 'it demands' },
};
const SHOWN = { what: 'demand', as: 'made', inFull: 'made, in full' };

/** Returns the demands that a server with these features can meet. For tests. */
export function demands({ pushed = true, bound = true } = {}): readonly ClientDemand[] {
  return [
    {
      ...TOLD,
      metadata: 'require_pushed_authorization_requests',
      field: 'pushesRequests',
      isMet: pushed,
      unmet: 'pushing is off',
      isStrict: false,
      shown: SHOWN,
    },
    {
      ...TOLD,
      metadata: 'dpop_bound_access_tokens',
      field: 'dpopBoundAccessTokens',
      isMet: bound,
      unmet: 'binding is off',
      isStrict: true,
      shown: SHOWN,
    },
  ];
}
