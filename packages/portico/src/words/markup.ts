/** A piece of HTML in which every text is escaped. Made by `tag()` alone: no text that somebody sent can be one. */
export class Markup {
  readonly #html: string;

  private constructor(html: string) {
    this.#html = html;
  }

  /** As `tag()`. */
  static element(name: ElementName, content: Content, attributes: Attributes): Markup {
    const shown = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`);
    const start = `<${name}${shown.join('')}>`;
    return new Markup(VOID.has(name) ? start : `${start}${Markup.htmlOf(content)}</${name}>`);
  }

  /** Text is escaped. */
  static htmlOf(content: Content): string {
    if (typeof content === 'string') return escapeHtml(content);
    return content instanceof Markup ? content.#html : content.map((each) => Markup.htmlOf(each)).join('');
  }
}

/** What an element contains: text, which is escaped, elements, or several of both. */
export type Content = string | Markup | readonly (string | Markup)[];

const ELEMENTS = ['bdi', 'strong', 'em', 'span', 'q', 'code', 'time', 'br', 'wbr'] as const;

/** What may stand inside of a sentence. */
export type ElementName = (typeof ELEMENTS)[number];

/** The attributes that such an element may have. */
export type Attributes = Readonly<Partial<Record<'class' | 'id' | 'lang' | 'dir' | 'datetime', string>>>;

const VOID: ReadonlySet<string> = new Set<ElementName>(['br', 'wbr']);
const NAMES: ReadonlySet<string> = new Set(ELEMENTS);
const ATTRIBUTES: ReadonlySet<string> = new Set(['class', 'id', 'lang', 'dir', 'datetime']);

/**
 * An element inside of a sentence, for `markup()`: `tag('bdi', name)`. Text in it and in its attributes is escaped. Throws for any
 * other element or attribute than those of the types, since a view is not checked by the compiler.
 */
export function tag(name: ElementName, content: Content = '', attributes: Attributes = {}): Markup {
  const unknown = NAMES.has(name) ? Object.keys(attributes).find((key) => !ATTRIBUTES.has(key)) : name;
  if (unknown !== undefined) throw new Error(`tag() makes no '${unknown}'`);
  return Markup.element(name, content, attributes);
}

/** For text and for attributes in quotes. */
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
