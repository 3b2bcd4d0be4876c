/**
 * Remembers which framework a reader chose. A choice is a `<details>` among others of one name,
 * which the browser opens one at a time, without this script too.
 */
const KEY = 'portico-framework';
const CHOICES = '.frameworks > details';

const nameOf = (choice: Element) => choice.querySelector('summary')?.textContent?.trim() ?? '';

/** Stores what the reader opens. The event does not bubble, so it is caught on its way down. */
export function rememberChoices(): void {
  document.addEventListener(
    'toggle',
    ({ target }) => {
      if (!(target instanceof HTMLDetailsElement) || !target.matches(CHOICES) || !target.open)
        return;
      try {
        localStorage.setItem(KEY, nameOf(target));
      } catch {
        // The browser stores nothing for this site: the next page begins with the first choice.
      }
    },
    { capture: true },
  );
}

/** Opens what the reader chose before, if the page has it. */
export function openRemembered(): void {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    return;
  }
  for (const choice of document.querySelectorAll<HTMLDetailsElement>(CHOICES))
    if (nameOf(choice) === chosen) choice.open = true;
}
