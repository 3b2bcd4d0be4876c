import { createHash } from 'node:crypto';
import { escapeHtml } from '../../pages/markup.ts';
import type { Words } from '../../pages/words.ts';

/**
 * The only script on the page. Its text never changes, so a hash allows it in the content security
 * policy.
 */
const SUBMIT_SCRIPT = 'document.forms[0].submit();';

/** The hash of the script, for the content security policy. */
export const SUBMIT_HASH = `sha256-${createHash('sha256').update(SUBMIT_SCRIPT).digest('base64')}`;

const STYLES = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 32rem; margin: 4rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
  h1 { font-size: 1.5rem; line-height: 1.25; }
  button { font: inherit; min-height: 2.75rem; padding: 0.5rem 1.5rem; cursor: pointer; }
`;

export interface FormPage {
  readonly words: Words;
  /** The nonce for the page's styles. */
  readonly nonce: string;
  /** The URL that the form is posted to. */
  readonly action: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly title: string;
  readonly message: string;
  readonly button: string;
  /** True if a script posts the form without a click. */
  readonly submits: boolean;
}

/** Escapes every value. */
export function formPage(page: FormPage): string {
  const { words, nonce, action, parameters, title, message, button, submits } = page;
  const inputs = Object.entries(parameters).map(
    ([name, value]) =>
      `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  return `<!doctype html>
<html lang="${escapeHtml(words.locale)}" dir="${words.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style nonce="${escapeHtml(nonce)}">${STYLES}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(message)}</p>
<form method="post" action="${escapeHtml(action)}" accept-charset="utf-8">
${inputs.join('\n')}
<button type="submit">${escapeHtml(button)}</button>
</form>
</main>${submits ? `\n<script>${SUBMIT_SCRIPT}</script>` : ''}
</body>
</html>
`;
}
