import {
  argon2idHasher,
  type Application,
  type ApplicationDefinition,
  type PasswordHasher,
} from 'portico/host';

/** The kit's hasher, with so little memory that it takes no time: most tests sign in for something else than the hash. */
export const CHEAP = argon2idHasher({ memory: 64 });

/** The same application with another hasher. What was hashed as the kit does still verifies. */
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
