import { escapeHtml } from '../../words/markup.ts';

/** HTML that is ready to be sent: what came into it as text is escaped. */
export class Markup {
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

/** What a page may put into `markup`; null, undefined and false are nothing. */
export type Content = Markup | string | number | null | undefined | false | readonly Content[];

/** The template as HTML. Every value is text, and escaped, also for an attribute in quotes, unless it is Markup itself. */
export function markup(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  const rest = values.map((value, index) => `${written(value)}${parts[index + 1] ?? ''}`);
  return new Markup(`${parts[0] ?? ''}${rest.join('')}`);
}

function written(value: Content): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.html;
  if (typeof value === 'string' || typeof value === 'number') {
    return escapeHtml(String(value));
  }
  return value.map(written).join('');
}
