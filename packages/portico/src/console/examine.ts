import type { AuthorizationServer } from '../authorization-server.ts';
import type { DoctorReport, ExaminationOptions } from './doctor.ts';
import type { ExaminedApplication } from '../examination.ts';

/**
 * Examines every part of a configured server without changing anything. If a part cannot be
 * examined, its check fails or is skipped. Only `online` examines the running process and the
 * proxies in front of it.
 *
 * @example
 * const { healthy, checks } = await examine(application, server, { online: true });
 */
export async function examine(
  application: ExaminedApplication,
  server: AuthorizationServer,
  options: ExaminationOptions = {},
): Promise<DoctorReport> {
  // An application that serves requests may never need the examinations, so load them here.
  return (await import('./doctor.ts')).examine(application, server, options);
}
