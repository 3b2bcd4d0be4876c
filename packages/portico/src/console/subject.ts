import type { AuthorizationServer } from '../authorization-server.ts';
import type { ExaminedApplication } from '../examination.ts';

/** What the doctor passes to each examination. */
export interface Subject {
  readonly application: ExaminedApplication;
  readonly server: AuthorizationServer;
}
