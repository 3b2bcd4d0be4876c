import type { Guarded } from './tool-access.ts';

/**
 * Reads from `personal` and `scope` who may use a tool or resource. Throws if one of them is
 * invalid, because the tool or resource must not become public by mistake. `kind` and `name` are
 * for error messages.
 */
export function readGuard(kind: string, name: string, registered: object): Guarded {
  const scope = readScope(kind, name, registered);
  return { personal: scope !== null || isPersonal(kind, name, registered), scope };
}

function readScope(kind: string, name: string, registered: object): string | null {
  if (!('scope' in registered)) return null;
  const { scope } = registered;
  if (typeof scope === 'function') return String(scope.call(registered));
  throw new Error(
    `The scope of the ${kind} ${name} must be a method that returns the name of a scope`,
  );
}

function isPersonal(kind: string, name: string, registered: object): boolean {
  if (!('personal' in registered)) return false;
  if (typeof registered.personal === 'boolean') return registered.personal;
  throw new Error(`The ${kind} ${name} must have personal: true. To make it public, omit personal`);
}
