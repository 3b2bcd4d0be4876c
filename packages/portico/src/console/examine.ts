import type { AuthorizationServer } from '../authorization-server.ts';
import type { DoctorReport, ExaminationOptions } from './doctor.ts';
import type { ExaminedApplication } from './subject.ts';

/**
 * Examines every part of a configured server and changes nothing. A part that cannot be examined is failing. Without
 * `online` it learns nothing of the serving process, nor of the proxies in front of it.
 */
export async function examine(
  application: ExaminedApplication,
  server: AuthorizationServer,
  options: ExaminationOptions = {},
): Promise<DoctorReport> {
  // All that it looks at is loaded now: an application that serves may never ask.
  return (await import('./doctor.ts')).examine(application, server, options);
}
