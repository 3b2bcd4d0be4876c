import type { Administration } from './administration.ts';
import type { AdministrationParts, AnswerAdministration } from './page.ts';

/**
 * Loads the code of the administrator's pages in the background, without delaying the start of the
 * server. Does not wait for the first request, because a deployment may have replaced the code's
 * files by then (decision 22).
 */
export function lazyAdministration(parts: () => AdministrationParts): AnswerAdministration {
  const load = () => import('./administration.ts');
  let loading: ReturnType<typeof load> | null = load();
  // If loading fails, requests that are waiting for it fail. The next request tries to load the
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
