import { currentContext as context } from '../http/context.ts';
import type { CompleteHost, Host } from './host.ts';

/** The host that an application wrote, as the server asks it. The kit's own is complete, and is not wrapped. */
export function completeHost(host: Host): CompleteHost {
  const { passwordHasher, log } = host;
  return {
    signedIn: (request) => host.signedIn(request, context()),
    loadAccount: (person) => host.loadAccount(person, context()),
    holdsPermission: (person, permission) => host.holdsPermission(person, permission, context()),
    browserSecret: (request) => host.browserSecret(request, context()),
    signOut: (request) => host.signOut(request, context()),
    loginUrl: (returnTo) => host.loginUrl(returnTo, context()),
    passwordHasher,
    render: (view, data) => host.render(view, data, context()),
    clientAddress: (request) => host.clientAddress(request, context()),
    audit: (event) => host.audit(event, context()),
    log,
    commit:
      host.commit === undefined
        ? null
        : async (request, response) => host.commit?.(request, response, context()),
  };
}
