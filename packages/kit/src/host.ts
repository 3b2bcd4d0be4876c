import type { FrameworkHost, PersonReference } from 'portico';
import { isYes, withReturn } from 'portico/extension';
import type { Application, Auth } from './contracts.ts';

/**
 * Connects the authorization server to the kit's accounts and sessions. `signIn` is the path of the
 * sign-in page, or the name of its route.
 */
export function kitHost(application: Application, signIn: string): FrameworkHost {
  function loginUrl(returnTo: string, acrValues: readonly string[] = []): string {
    const login = signIn.startsWith('/') ? signIn : application.path(signIn);
    return withReturn(login, returnTo, acrValues);
  }
  /**
   * The session from which each user reference was read. `loadAccount` ends this session if the
   * user is missing or inactive.
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
      // End the session of a missing or inactive user, as `auth().user()` does. Neither this user
      // nor the browser's next user may use it.
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
    // The secret also identifies the session. It ends with the session, and stays the same if the
    // same user signs in again.
    sessionId: () => application.session().secret(),
    reauthenticateUrl: (returnTo, { acrValues }) => `${loginUrl(returnTo, acrValues)}&again=1`,
  };
}
