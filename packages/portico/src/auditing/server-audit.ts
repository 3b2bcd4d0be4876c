import type { Log } from '@portico/sql';
import { takenBy, type Audit } from './audit.ts';
import type { KeptAudit } from './kept-audit.ts';

/** Receives audit events in addition to the host. Implemented by a feature. */
export interface AuditSink extends KeptAudit {
  /** Whether new events are stored, so that `list` can return them. */
  readonly keeps: boolean;
  /** Receives each event. Null if the feature does not need the events. */
  readonly record: Audit | null;
}

/**
 * Records audit events, and lists the stored ones. The function `record` passes an event only to
 * the sink, and not to the host.
 */
export type ServerAudit = Audit & AuditSink;

/** The sink for servers without a feature that receives audit events. */
export const NO_AUDIT_SINK: AuditSink = {
  keeps: false,
  record: null,
  list: async () => ({ items: [], next: null }),
  pseudonymise: async () => 0,
};

/**
 * Returns a function that passes each event to the host and to the sink at the same time. The
 * function never rejects. The sink receives no events until all features have started.
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
