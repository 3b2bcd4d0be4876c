/**
 * HTML in which all text is escaped. Only `tag()` creates Markup, so text from a request never
 * becomes HTML.
 */
export class Markup {
  readonly #html: string;

  private constructor(html: string) {
    this.#html = html;
  }

  /** Creates an element. See `tag()`. */
  static element(name: ElementName, content: Content, attributes: Attributes): Markup {
    const shown = Object.entries(attributes).map(
      ([key, value]) => ` ${key}="${escapeHtml(value)}"`,
    );
    const start = `<${name}${shown.join('')}>`;
    return new Markup(VOID.has(name) ? start : `${start}${Markup.htmlOf(content)}</${name}>`);
  }

  /** Returns the content as HTML, with all text escaped. */
  static htmlOf(content: Content): string {
    if (typeof content === 'string') return escapeHtml(content);
    return content instanceof Markup
      ? content.#html
      : content.map((each) => Markup.htmlOf(each)).join('');
  }
}

/**
 * The content of an element: text, an element, or a list of texts and elements. Text will be
 * escaped.
 */
export type Content = string | Markup | readonly (string | Markup)[];

const ELEMENTS = ['bdi', 'strong', 'em', 'span', 'q', 'code', 'time', 'br', 'wbr'] as const;

/** The HTML elements that `tag()` can create inside a sentence. */
export type ElementName = (typeof ELEMENTS)[number];

/** The attributes that these elements can have. */
export type Attributes = Readonly<
  Partial<Record<'class' | 'id' | 'lang' | 'dir' | 'datetime', string>>
>;

const VOID: ReadonlySet<string> = new Set<ElementName>(['br', 'wbr']);
const NAMES: ReadonlySet<string> = new Set(ELEMENTS);
const ATTRIBUTES: ReadonlySet<string> = new Set(['class', 'id', 'lang', 'dir', 'datetime']);

/**
 * Creates an HTML element inside a sentence, for use with `markup()`: `tag('bdi', name)`. Escapes
 * the text and the attributes. Throws for an element or attribute that the types do not list,
 * because the compiler does not check views.
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
