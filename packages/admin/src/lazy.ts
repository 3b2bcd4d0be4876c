import type { Administration } from './administration.ts';
import type { AdministrationParts, AnswerAdministration } from './page.ts';

/**
 * Loads the code of the administrator's pages when the server starts, but does not delay the start.
 * Does not wait for the first request, because a deployment may have replaced the files by then
 * (decision 22).
 */
export function lazyAdministration(parts: () => AdministrationParts): AnswerAdministration {
  const load = () => import('./administration.ts');
  let loading: ReturnType<typeof load> | null = load();
  // If loading fails, the requests that wait for it fail too. The next request tries to load the
  // code again.
  loading.catch(() => (loading = null));
  let administration: Administration | null = null;

  return async (name, request) => {
    if (administration === null) {
      const loaded = await (loading ?? load());
      administration ??= new loaded.Administration(parts());
    }
    return administration.answer(name, request);
  };
}
