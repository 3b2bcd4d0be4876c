import type { AuthorizationServer } from '../authorization-server.ts';
import type { DoctorReport, ExaminationOptions } from './doctor.ts';
import type { ExaminedApplication } from '../examination.ts';

/**
 * Examines every part of a configured server, and changes nothing. A part that cannot be examined
 * counts as failing. Without `online`, this checks neither the running process nor the proxies in
 * front of it.
 */
export async function examine(
  application: ExaminedApplication,
  server: AuthorizationServer,
  options: ExaminationOptions = {},
): Promise<DoctorReport> {
  // Load the examinations only now, because a serving application may never need them.
  return (await import('./doctor.ts')).examine(application, server, options);
}
