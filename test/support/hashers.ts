import { argon2idHasher, type ApplicationDefinition } from '@portico/kit';
import type { Application, PasswordHasher } from 'portico';

/** The kit's hasher with very little memory: most tests sign in, and few are about the hash. */
export const CHEAP = argon2idHasher({ memory: 64 });

/** The same application with another hasher; the kit's hashes still verify. */
export function hashingWith<Definition extends Pick<ApplicationDefinition, 'accounts' | 'plugins'>>(
  passwordHasher: PasswordHasher,
  definition: Definition,
): Definition {
  const { accounts, plugins = [] } = definition;
  const own: Pick<ApplicationDefinition, 'accounts' | 'plugins'> = {
    ...(accounts === undefined
      ? {}
      : { accounts: (services) => accounts({ ...services, passwordHasher }) }),
    plugins: plugins.map((plugin) => ({
      ...plugin,
      register: (application) => plugin.register(withHasher(passwordHasher, application)),
    })),
  };
  return { ...definition, ...own };
}

export function withHasher<Started extends Application>(
  passwordHasher: PasswordHasher,
  application: Started,
): Started {
  return new Proxy(application, {
    get(target, name) {
      if (name === 'passwordHasher') return passwordHasher;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
