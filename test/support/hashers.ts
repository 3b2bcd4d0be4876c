import { argon2idHasher, type ApplicationDefinition } from '@portico/kit';
import type { Application, PasswordHasher } from 'portico';

/**
 * The kit's hasher with very little memory. It is fast: most tests sign in, but few of them test
 * the hash.
 */
export const CHEAP = argon2idHasher({ memory: 64 });

/** Returns the same application with another hasher. It still accepts the hashes of the kit. */
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
