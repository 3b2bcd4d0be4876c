import type { Administration } from './administration.ts';
import type { AdministrationParts, AnswerAdministration } from './page.ts';

/**
 * Loads the code of the administrator's pages when the server starts. A deployment may replace the
 * files of the code before the first request for a page (decision 22).
 */
export function lazyAdministration(parts: () => AdministrationParts): AnswerAdministration {
  const load = () => import('./administration.ts');
  let loading: ReturnType<typeof load> | null = load();
  // If loading fails, this request fails, and the next request loads the code again.
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
