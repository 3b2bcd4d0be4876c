/**
 * Remembers which framework a reader chose. The choices are `<details>` elements with the same
 * name. The browser opens only one of them at a time, even without this script.
 */
const KEY = 'portico-framework';
const CHOICES = '.frameworks > details';

const nameOf = (choice: Element) => choice.querySelector('summary')?.textContent?.trim() ?? '';

/** Stores the choice that the reader opens. Captures the event, because it does not bubble. */
export function rememberChoices(): void {
  document.addEventListener(
    'toggle',
    ({ target }) => {
      if (!(target instanceof HTMLDetailsElement) || !target.matches(CHOICES) || !target.open)
        return;
      try {
        localStorage.setItem(KEY, nameOf(target));
      } catch {
        // If the browser stores nothing for this site, the next page shows the first choice.
      }
    },
    { capture: true },
  );
}

/** Opens the choice that the reader made before, if the page has it. */
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
