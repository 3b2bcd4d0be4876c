import { failing, ok, warning, type Finding } from '@portico/sql';
import type { FetchDocument } from '../../examination.ts';
import type { HealthPart, HealthState, Readiness } from './health.ts';

const PARTS: readonly HealthPart[] = ['store', 'schema', 'key'];
const STATES: readonly HealthState[] = ['failing', 'unknown'];

/**
 * Requests the readiness probe at its public URL. A proxy that does not forward the probe is no
 * error. Probes can go directly to each process.
 */
export async function examineReadiness(
  url: string,
  fetchDocument: FetchDocument,
): Promise<Finding> {
  const asked = await fetchDocument(url, {}, [200, 503]);
  // The response may come from another server.
  const { status, checks }: Partial<Readiness> = 'fault' in asked ? {} : asked.document;
  if (status === 'ready') return ok(`${url} reports that a process is ready`);
  if (status === 'stopping')
    return warning(
      `the request to ${url} reached a process that is stopping`,
      'make the proxy send requests only to processes that are ready',
    );
  if (status === 'not_ready') {
    const found = PARTS.flatMap((part) =>
      STATES.filter((state) => checks?.[part] === state).map((state) => `${part} ${state}`),
    );
    return failing(
      `the request to ${url} reached a process that is not ready: ${found.join(', ')}`,
      'for the cause, search the log of that process for "Not ready"',
    );
  }
  return ok(
    `${url} did not reach any process from this machine. Point health probes at each ` +
      'process directly',
  );
}
