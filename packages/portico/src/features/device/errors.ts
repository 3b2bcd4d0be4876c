declare module '../../errors.ts' {
  interface FurtherErrorCodes {
    /** The user has not answered yet. */
    readonly authorization_pending: true;
    /** The device polled too early. The device's interval grows by five seconds. */
    readonly slow_down: true;
    /** The user did not answer in time. */
    readonly expired_token: true;
  }
}

/** The error codes of RFC 8628 section 3.5, in addition to the error codes of RFC 6749. */
export const DEVICE_ERRORS = ['authorization_pending', 'slow_down', 'expired_token'] as const;
