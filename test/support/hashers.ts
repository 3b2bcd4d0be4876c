import {
  argon2idHasher,
  type Application,
  type ApplicationDefinition,
  type PasswordHasher,
} from 'portico/host';

/** The kit's hasher with very little memory: most tests sign in, and few are about the hash. */
export const CHEAP = argon2idHasher({ memory: 64 });

/** The same application with another hasher; hashes that the kit made still verify. */
export function hashingWith(
  passwordHasher: PasswordHasher,
  definition: ApplicationDefinition,
): ApplicationDefinition {
  const { accounts, plugins = [] } = definition;
  return {
    ...definition,
    ...(accounts === undefined ? {} : { accounts: (services) => accounts({ ...services, passwordHasher }) }),
    plugins: plugins.map((plugin) => ({
      ...plugin,
      register: (application) => plugin.register(withHasher(passwordHasher, application)),
    })),
  };
}

export function withHasher(passwordHasher: PasswordHasher, application: Application): Application {
  return { ...application, passwordHasher };
}
