import type { AuthorizationServer } from '../authorization-server.ts';
import type { DoctorReport, ExaminationOptions } from './doctor.ts';
import type { ExaminedApplication } from '../examination.ts';

/**
 * Examines every part of a configured server without changing anything. If a part cannot be
 * examined, its check fails or is skipped. Without `online`, does not examine the running process
 * or the proxies in front of it.
 *
 * @example
 * const { healthy, checks } = await examine(application, server, { online: true });
 */
export async function examine(
  application: ExaminedApplication,
  server: AuthorizationServer,
  options: ExaminationOptions = {},
): Promise<DoctorReport> {
  // Load the examinations only here, because an application that serves requests may never need
  // them.
  return (await import('./doctor.ts')).examine(application, server, options);
}
