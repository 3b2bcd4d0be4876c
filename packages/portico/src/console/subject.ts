import type { AuthorizationServer } from '../authorization-server.ts';
import type { ExaminedApplication } from '../examination.ts';

/** The input for the examinations. */
export interface Subject {
  readonly application: ExaminedApplication;
  readonly server: AuthorizationServer;
}
