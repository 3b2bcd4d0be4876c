import type { AuditedSignIn } from '../../auditing/audit.ts';
import { defineFeature } from '../../feature.ts';
import { AuditTrail } from './audit-trail.ts';
import { auditShape } from './config.ts';
import { SIGN_INS, SignIns } from './sign-ins.ts';

declare module '../../store/pruning.ts' {
  interface PrunedRows {
    /**
     * How many audit events were deleted. Missing if `oauth_server:audit:retention_days` is not
     * set.
     */
    readonly auditEvents?: number;
  }
}

/** This number is large, because a single authorization causes several events. */
const BATCH = 500;

/** Stores audit events and writes them to a stream. */
export const audit = defineFeature({
  name: 'audit',
  config: auditShape,
  commands: async () => (await import('./commands.ts')).addAuditList,
  start(server, { audit: configured = {} }) {
    const trail = new AuditTrail(server, configured);
    const { retention_days: days } = configured;
    if (days === undefined) return { auditSink: trail };
    return {
      auditSink: trail,
      expiring: {
        kind: 'auditEvents',
        called: 'audit events',
        which: 'are older than oauth_server:audit:retention_days',
        batch: BATCH,
        remove: (limit) => trail.removeOlder(days, limit),
      },
    };
  },
  register({ events }, { audit: { record }, clock }) {
    if (record === null) return;
    const signIns = new SignIns(record, clock);
    for (const type of SIGN_INS)
      events.on(type, (failed: AuditedSignIn) => signIns.failed(type, failed));
  },
});
