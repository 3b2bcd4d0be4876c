import type { Log } from '@portico/sql';
import { takenBy, type Audit } from './audit.ts';
import type { KeptAudit } from './kept-audit.ts';

/** Where audit events go besides the host: what a feature does with them. */
export interface AuditSink extends KeptAudit {
  /** Whether it keeps the events of now, so that they are listed. */
  readonly keeps: boolean;
  /** Takes an event; null if it takes none. */
  readonly record: Audit | null;
}

/**
 * Accepts audit events, and lists the stored ones. `record` takes an event without telling the
 * host.
 */
export type ServerAudit = Audit & AuditSink;

/** For a server without a feature that receives events. */
export const NO_AUDIT_SINK: AuditSink = {
  keeps: false,
  record: null,
  list: async () => ({ items: [], next: null }),
  pseudonymise: async () => 0,
};

/**
 * Tells the host, and the sink that is known once every feature has started, both at once. Never
 * rejects.
 */
export function serverAudit(
  host: { readonly audit: Audit; readonly log: Log },
  sink: () => AuditSink,
): ServerAudit {
  const tellHost = takenBy((event) => host.audit(event), host.log);
  const record = takenBy(async (event) => sink().record?.(event), host.log);
  const audit: Audit = async (event) => {
    if (sink().record === null) return tellHost(event);
    await Promise.all([record(event), tellHost(event)]);
  };
  return Object.defineProperties(
    Object.assign(audit, {
      list: (filter, page) => sink().list(filter, page),
      pseudonymise: (person, pseudonym, batch) => sink().pseudonymise(person, pseudonym, batch),
    } satisfies KeptAudit),
    {
      keeps: { get: () => sink().keeps },
      record: { get: () => (sink().record === null ? null : record) },
    },
  ) as ServerAudit;
}
