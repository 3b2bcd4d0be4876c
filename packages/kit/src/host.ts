import type { FrameworkHost, PersonReference } from 'portico';
import { isYes, withReturn } from 'portico/extension';
import type { Application, Auth } from './contracts.ts';

/**
 * Gives the server the kit's people and sessions. `signIn` is the name of the sign-in page's route,
 * or its path.
 */
export function kitHost(application: Application, signIn: string): FrameworkHost {
  function loginUrl(returnTo: string): string {
    const login = signIn.startsWith('/') ? signIn : application.path(signIn);
    return withReturn(login, returnTo);
  }
  /**
   * The session that each person was read from. The server loads each account that `signedIn`
   * returned once.
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
      // As `auth().user()` does: an inactive person must not keep this session, and the next person
      // must not inherit it.
      if (account === null || !isYes(account.isActive())) await sessions.get(person)?.signOut();
      return account;
    },
    holdsPermission: (person, permission) => application.accounts.holdsPermission(person, permission),
    findPeople: application.accounts.search,
    browserSecret: () => application.session().secret(),
    async signOut(_, returnTo) {
      await application.auth().signOut();
      return loginUrl(returnTo);
    },
    loginUrl,
  };
}
