import type { AuthorizationServer } from '../authorization-server.ts';
import type { ExaminedApplication } from '../examination.ts';

/** The data that each examination receives. */
export interface Subject {
  readonly application: ExaminedApplication;
  readonly server: AuthorizationServer;
}
