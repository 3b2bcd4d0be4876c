import { defineFeature } from '../../feature.ts';
import { pushedShape } from './config.ts';

/** Authorization requests that clients push before they send a browser (RFC 9126). */
export const pushedRequests = defineFeature({
  name: 'pushed_requests',
  config: pushedShape,
  clientDemands: [
    {
      metadata: 'require_pushed_authorization_requests',
      field: 'pushesRequests',
      meets: ({ pushed_authorization_requests: mode = 'off' }) => mode !== 'off',
      key: 'pushed_authorization_requests',
      unmet: 'oauth_server:pushed_authorization_requests is off; set it to accept or require first',
      effect: 'nobody gets further with these, which push their requests',
      isStrict: false,
      option: {
        flag: '--par',
        says:
          'it pushes its authorization requests (RFC 9126), and gets nothing by others; ' +
          'oauth_server:pushed_authorization_requests has to be accept or require',
      },
      shown: {
        what: 'requests',
        as: 'pushed (RFC 9126), and no others',
        inFull: 'pushed (RFC 9126), and no others',
      },
    },
  ],
});
