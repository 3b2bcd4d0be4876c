import type { UserInterface } from 'portico';
import { isYes } from 'portico/extension';
import type { AccountProvider, Accounts } from '../contracts.ts';

/**
 * Combines all account providers into one object, without protection against password guessing. In
 * an application, use `Application.accounts`, which has this protection. Throws an error if two
 * providers have the same name.
 *
 * @example
 * const user = await createAccounts([databaseAccounts(services)]).find(person);
 */
export function createAccounts(providers: readonly AccountProvider[]): Accounts {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  if (byName.size !== providers.length)
    throw new Error('Two account providers have the same name; rename one');
  const searched = providers.flatMap((provider) => provider.search?.bind(provider) ?? []);
  return {
    search:
      searched.length === 0
        ? null
        : async (text, limit) => {
            const found = await Promise.all(searched.map((search) => search(text, limit)));
            return inTurn(found).slice(0, limit);
          },
    find: async ({ provider, id }) => (await byName.get(provider)?.find(id)) ?? null,
    async authenticate(identifier, password, names) {
      for (const provider of providers) {
        // JavaScript providers may return undefined from a look-up that finds nothing.
        const user = (await provider.authenticate(identifier, password, names)) ?? null;
        if (user !== null) return user;
      }
      return null;
    },
    holdsPermission: async ({ provider, id }, permission) =>
      isYes(await byName.get(provider)?.holdsPermission(id, permission)),
  };
}

/**
 * Returns the first account of each list, then the second of each list, and so on. Otherwise, the
 * limit of a search could hide all accounts of the later providers.
 */
function inTurn(lists: readonly (readonly UserInterface[])[]): readonly UserInterface[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) =>
    lists.flatMap((list) => list.slice(at, at + 1)),
  ).flat();
}
