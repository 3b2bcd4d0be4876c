import { escapeHtml } from 'portico/extension';

/** Safe HTML for a page. All inserted strings have been escaped. */
export class Html {
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

/** The values that a template of `markup` accepts. Null, undefined and false add nothing. */
export type HtmlContent =
  Html | string | number | null | undefined | false | readonly HtmlContent[];

/**
 * Converts a template to HTML. Escapes every value that is not an Html object. Escaped values are
 * also safe inside quoted attributes.
 */
export function markup(parts: TemplateStringsArray, ...values: readonly HtmlContent[]): Html {
  const rest = values.map((value, index) => `${written(value)}${parts[index + 1] ?? ''}`);
  return new Html(`${parts[0] ?? ''}${rest.join('')}`);
}

function written(value: HtmlContent): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.html;
  if (typeof value === 'string' || typeof value === 'number') {
    return escapeHtml(String(value));
  }
  return value.map(written).join('');
}
