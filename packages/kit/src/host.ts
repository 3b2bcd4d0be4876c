import type { FrameworkHost, PersonReference } from 'portico';
import { isYes, withReturn } from 'portico/extension';
import type { Application, Auth } from './contracts.ts';

/**
 * Connects the server to the kit's accounts and sessions. `signIn` is the sign-in page's path or
 * route name.
 */
export function kitHost(application: Application, signIn: string): FrameworkHost {
  function loginUrl(returnTo: string, acrValues: readonly string[] = []): string {
    const login = signIn.startsWith('/') ? signIn : application.path(signIn);
    return withReturn(login, returnTo, acrValues);
  }
  /**
   * The session from which each person was read. After `signedIn` returns a person, the server
   * loads that account once.
   */
  const sessions = new WeakMap<PersonReference, Auth>();
  return {
    async signedIn() {
      const auth = application.auth();
      const person = await auth.person();
      if (person !== null) sessions.set(person, auth);
      return person;
    },
    async loadAccount(person) {
      const account = await application.accounts.find(person);
      // Do the same as `auth().user()`: an inactive person must not keep this session, and the next
      // person must not inherit it.
      if (account === null || !isYes(account.isActive())) await sessions.get(person)?.signOut();
      return account;
    },
    holdsPermission: (person, permission) =>
      application.accounts.holdsPermission(person, permission),
    findPeople: application.accounts.search,
    browserSecret: () => application.session().secret(),
    async signOut(_, returnTo) {
      await application.auth().signOut();
      return loginUrl(returnTo);
    },
    async endSession() {
      await application.auth().signOut();
      return null;
    },
    loginUrl: (returnTo) => loginUrl(returnTo),
    authenticatedAt: () => application.auth().authentication(),
    // It survives another sign-in of the same person, and ends with the session.
    sessionId: () => application.session().secret(),
    reauthenticateUrl: (returnTo, { acrValues }) => `${loginUrl(returnTo, acrValues)}&again=1`,
  };
}
