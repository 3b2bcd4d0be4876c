import path from 'node:path';
import { z } from 'zod';
import { trueOrFalse, type AuditConfigInput } from '../../config.ts';

/** The maximum value of `retention_days`, in days. */
const LONGEST_RETENTION = 36_525;

const audit = z.strictObject(
  {
    keep: trueOrFalse.optional(),
    retention_days: z
      .int({ error: 'must be a whole number of days' })
      .min(1, 'must be at least 1 day')
      .max(LONGEST_RETENTION, `must be at most ${LONGEST_RETENTION} days (100 years)`)
      .optional(),
    stream: z
      .string({ error: 'must be "-" for standard output, or the absolute path of a file' })
      .refine(
        (to) => to === '-' || path.isAbsolute(to),
        'must be "-" for standard output, or the absolute path of a file',
      )
      .optional(),
  },
  { error: 'must be an object { keep, retention_days, stream }' },
);

export const auditShape = { audit: audit.optional() };

export interface AuditConfig {
  /**
   * How the server records audit events. These settings do not affect `Host.audit`. Default: none.
   */
  readonly audit?: AuditConfigInput | undefined;
}

/**
 * How Portico records audit events (`AuditEvent`). Each event is recorded before Portico sends the
 * response.
 */
export interface AuditKeys {
  /**
   * Whether the server stores audit events in the table `oauth_audit`. The command `oauth:audit`
   * lists them. Default: false.
   */
  readonly keep?: boolean | undefined;
  /** After how many days the server deletes stored events. Default: never. */
  readonly retention_days?: number | undefined;
  /**
   * Where the server writes audit events, one JSON object per line: `-` for standard output, or the
   * absolute path of a file. Default: nowhere.
   */
  readonly stream?: string | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends AuditConfig {}
  interface OAuthServerConfigInput extends AuditConfig {}
  interface AuditConfigInput extends AuditKeys {}
}
