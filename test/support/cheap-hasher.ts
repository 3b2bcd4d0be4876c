import { argon2idHasher, type Application, type ApplicationDefinition } from 'portico/host';

/** The kit's hasher, with so little memory that it takes no time: most tests sign in for something else than the hash. */
const CHEAP = argon2idHasher({ memory: 64 });

/** The same application, which hashes passwords and client secrets cheaply. What was hashed as the kit does still verifies. */
export function hashingCheaply(definition: ApplicationDefinition): ApplicationDefinition {
  const { accounts, plugins = [] } = definition;
  return {
    ...definition,
    ...(accounts === undefined
      ? {}
      : { accounts: (services) => accounts({ ...services, passwordHasher: CHEAP }) }),
    plugins: plugins.map((plugin) => ({
      ...plugin,
      register: (application) => plugin.register(withCheapHasher(application)),
    })),
  };
}

export function withCheapHasher(application: Application): Application {
  return { ...application, passwordHasher: CHEAP };
}
