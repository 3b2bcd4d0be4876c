import type { AuthorizationServer } from '../authorization-server.ts';
import type { ExaminedApplication } from '../examination.ts';

/** What the examinations receive. */
export interface Subject {
  readonly application: ExaminedApplication;
  readonly server: AuthorizationServer;
}
