import type { Meter } from '@opentelemetry/api';
import type { ObservedServer } from '../../../measuring.ts';
import { ALGORITHM, CONNECTION_STATE, OUTBOX_STATE, POOL, RETRIED, SCOPE } from './attributes.ts';
import { Census, inTime } from './census.ts';

/**
 * Registers gauges for the server's state. They read values only when the application collects
 * metrics.
 */
export function observeServer(meter: Meter, server: ObservedServer): void {
  const gauge = (name: string, description: string, unit: string) =>
    meter.createObservableGauge(name, { description, unit });
  observeRetries(meter, server);
  observeConnections(meter, server);
  const authorizations = new Census((after, limit) => server.authorizations(after, limit));
  observeCensus(
    gauge('portico.authorizations', 'Active authorizations', '{authorization}'),
    authorizations,
  );
  const clients = new Census((after, limit) => server.clients(after, limit));
  observeCensus(gauge('portico.clients', 'Clients that are not revoked', '{client}'), clients);
  observeOutbox(gauge('portico.outbox.messages', 'Messages in the outbox', '{message}'), server);
  gauge('portico.signing_key.age', 'Age of the current signing key', 's').addCallback(
    async (result) => {
      // Report no age if the server has no keys or cannot read them.
      const keys = await inTime(
        server.signingKeys().catch(() => []),
        [],
      );
      for (const { algorithm, age } of keys) result.observe(age, { [ALGORITHM]: algorithm });
    },
  );
}

function observeOutbox(
  gauge: ReturnType<Meter['createObservableGauge']>,
  server: ObservedServer,
): void {
  gauge.addCallback(async (result) => {
    const counts = await inTime(
      server.outbox().catch(() => null),
      null,
    );
    for (const [state, count] of Object.entries(counts ?? {}))
      result.observe(count, { [OUTBOX_STATE]: state });
  });
}

function observeCensus(gauge: ReturnType<Meter['createObservableGauge']>, census: Census): void {
  gauge.addCallback(async (result) => {
    const count = await census.latest();
    if (count !== null) result.observe(count);
  });
}

function observeRetries(meter: Meter, server: ObservedServer): void {
  const counter = meter.createObservableCounter('portico.store.retries', {
    description: 'Statements and transactions that were retried',
    unit: '{retry}',
  });
  counter.addCallback((result) => {
    const retries = server.retries();
    if (retries === null) return;
    result.observe(retries.statements, { [RETRIED]: 'statement' });
    result.observe(retries.transactions, { [RETRIED]: 'transaction' });
  });
}

function observeConnections(meter: Meter, server: ObservedServer): void {
  const pool = { [POOL]: SCOPE };
  const updown = (name: string, description: string, unit: string) =>
    meter.createObservableUpDownCounter(name, { description, unit });
  const count = updown('db.client.connection.count', 'Connections to the database', '{connection}');
  const waiting = updown(
    'db.client.connection.pending_requests',
    'Statements and transactions that wait for a connection',
    '{request}',
  );
  const most = updown('db.client.connection.max', 'Maximum number of connections', '{connection}');
  count.addCallback((result) => {
    const connections = server.connections();
    if (connections === null) return;
    result.observe(connections.used, { ...pool, [CONNECTION_STATE]: 'used' });
    if (connections.idle !== null)
      result.observe(connections.idle, { ...pool, [CONNECTION_STATE]: 'idle' });
  });
  waiting.addCallback((result) => {
    const connections = server.connections();
    if (connections !== null) result.observe(connections.waiting, pool);
  });
  most.addCallback((result) => {
    const limit = server.connections()?.most ?? null;
    if (limit !== null) result.observe(limit, pool);
  });
}
