import path from 'node:path';
import { z } from 'zod';
import type { AuditConfigInput } from '../../config.ts';

/** In days. */
const LONGEST_RETENTION = 36_525;

const audit = z.strictObject(
  {
    keep: z.boolean({ error: 'must be true or false' }).optional(),
    retention_days: z
      .int({ error: 'must be a whole number of days' })
      .min(1, 'must be at least 1 day')
      .max(LONGEST_RETENTION, `must be at most ${LONGEST_RETENTION} days, a century`)
      .optional(),
    stream: z
      .string({ error: 'must be - or the absolute path of a file' })
      .refine((to) => to === '-' || path.isAbsolute(to), 'must be - or the absolute path of a file')
      .optional(),
  },
  { error: 'must be an object { keep, retention_days, stream }' },
);

/** The key of `oauth_server` that the kept and streamed audit adds. */
export const auditShape = { audit: audit.optional() };

export interface AuditConfig {
  /** What happens to audit events, in addition to `Host.audit`; nothing. */
  readonly audit?: AuditConfigInput | undefined;
}

/** What happens to audit events (`AuditEvent`), before the request is answered. */
export interface AuditKeys {
  /** Whether the server keeps them in the table `oauth_audit`, for `oauth:audit`; false. */
  readonly keep?: boolean | undefined;
  /** After how many days the server removes them from the table; never. */
  readonly retention_days?: number | undefined;
  /**
   * Where the server writes each one as a line of JSON: `-` for standard output, or the absolute
   * path of a file; nowhere.
   */
  readonly stream?: string | undefined;
}

declare module '../../config.ts' {
  interface OAuthServerConfig extends AuditConfig {}
  interface OAuthServerConfigInput extends AuditConfig {}
  interface AuditConfigInput extends AuditKeys {}
}
