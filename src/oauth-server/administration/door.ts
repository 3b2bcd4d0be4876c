import type { AdministrationParts, AnswerAdministration } from './page.ts';

/**
 * The administrator's pages, whose code is read from here on, and by nobody who has no such pages. Not when the first is asked for: a
 * deployment may have replaced the files by then (decision 22).
 */
export function administrationDoor(parts: () => AdministrationParts): AnswerAdministration {
  const load = () => import('./administration.ts');
  let loading: ReturnType<typeof load> | null = load();
  // Whoever asks for a page is told, and it is tried again.
  loading.catch(() => (loading = null));
  let answer: AnswerAdministration | null = null;

  return async (name, request) => {
    if (answer === null) {
      const { createAdministration } = await (loading ?? load());
      answer ??= createAdministration(parts());
    }
    return answer(name, request);
  };
}
