import type { Log } from '@portico/sql';
import { takenBy, type Audit } from './audit.ts';
import type { KeptAudit } from './kept-audit.ts';

/** Receives audit events in addition to the host. A feature implements it. */
export interface AuditSink extends KeptAudit {
  /** True if new events are stored, so `list` can return them. */
  readonly keeps: boolean;
  /** Receives each event. Null if the feature does not need the events. */
  readonly record: Audit | null;
}

/**
 * Records audit events, and lists the stored ones. `record` passes an event only to the sink, not
 * to the host.
 */
export type ServerAudit = Audit & AuditSink;

export const NO_AUDIT_SINK: AuditSink = {
  keeps: false,
  record: null,
  list: async () => ({ items: [], next: null }),
  pseudonymise: async () => 0,
};

/**
 * Passes each event to the host and the sink at the same time. Never rejects. The sink receives no
 * events until all features have started.
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
