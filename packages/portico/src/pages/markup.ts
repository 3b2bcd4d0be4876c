/**
 * HTML with all text escaped. Only `tag()` creates Markup, so text from a request never becomes
 * HTML.
 */
export class Markup {
  readonly #html: string;

  private constructor(html: string) {
    this.#html = html;
  }

  /** See `tag()`. */
  static element(name: ElementName, content: Content, attributes: Attributes): Markup {
    const shown = Object.entries(attributes).map(
      ([key, value]) => ` ${key}="${escapeHtml(value)}"`,
    );
    const start = `<${name}${shown.join('')}>`;
    return new Markup(VOID.has(name) ? start : `${start}${Markup.htmlOf(content)}</${name}>`);
  }

  /** Escapes all text. */
  static htmlOf(content: Content): string {
    if (typeof content === 'string') return escapeHtml(content);
    return content instanceof Markup
      ? content.#html
      : content.map((each) => Markup.htmlOf(each)).join('');
  }
}

/** Text will be escaped. */
export type Content = string | Markup | readonly (string | Markup)[];

const ELEMENTS = ['bdi', 'strong', 'em', 'span', 'q', 'code', 'time', 'br', 'wbr'] as const;

/** The elements that `tag()` can create inside a sentence. */
export type ElementName = (typeof ELEMENTS)[number];

export type Attributes = Readonly<
  Partial<Record<'class' | 'id' | 'lang' | 'dir' | 'datetime', string>>
>;

const VOID: ReadonlySet<string> = new Set<ElementName>(['br', 'wbr']);
const NAMES: ReadonlySet<string> = new Set(ELEMENTS);
const ATTRIBUTES: ReadonlySet<string> = new Set(['class', 'id', 'lang', 'dir', 'datetime']);

/**
 * Creates an HTML element inside a sentence, for `markup()`: `tag('bdi', name)`. Escapes the text
 * and the attributes. The compiler does not check views, so an unknown element or attribute throws.
 */
export function tag(name: ElementName, content: Content = '', attributes: Attributes = {}): Markup {
  const unknown = NAMES.has(name)
    ? Object.keys(attributes).find((key) => !ATTRIBUTES.has(key))
    : name;
  if (unknown !== undefined) throw new Error(`tag() does not support '${unknown}'`);
  return Markup.element(name, content, attributes);
}

/** Escapes text for HTML content and for attribute values in quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
