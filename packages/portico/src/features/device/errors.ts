declare module '../../errors.ts' {
  interface FurtherErrorCodes {
    /** The user has not answered yet. */
    readonly authorization_pending: true;
    /** The device polled too early. It must now wait five seconds longer between polls. */
    readonly slow_down: true;
    /**
     * The user did not answer in time, an operator ended the request, or the device did not fetch
     * its tokens in time.
     */
    readonly expired_token: true;
  }
}

/** The error codes that RFC 8628 section 3.5 adds to those of RFC 6749. */
export const DEVICE_ERRORS = ['authorization_pending', 'slow_down', 'expired_token'] as const;
