import { ENGLISH, type MessageKey, type PageKey } from './english.ts';
import { getDirection } from './language-ranges.ts';
import { escapeHtml, Markup, tag, type Content } from './markup.ts';
import {
  messageParts,
  shownValue,
  textFor,
  type Catalog,
  type MessageValue,
  type MessageValues,
} from './message.ts';

/**
 * The page texts in one language. The functions need no `this`, so you can destructure the object.
 */
export interface Words {
  /** The language's tag (BCP 47), for example `zh-Hans`. */
  readonly locale: string;
  /** The writing direction. */
  readonly direction: 'ltr' | 'rtl';
  /**
   * Returns a message as plain text, without escaping: `<%= it.t('consent.title', { client:
   * it.clientName }) %>`. The number `count` selects the plural form. In a right-to-left language,
   * inserted texts keep their own direction, as with `<bdi>`. Throws for an unknown key, and for a
   * placeholder without a value.
   */
  readonly t: (key: string, values?: MessageValues) => string;
  /**
   * Returns a message as HTML, for `<%~ %>`. Escapes the message and all values except elements
   * from `tag()`: `<%~ it.markup('consent.title', { client: it.tag('bdi', it.clientName), server })
   * %>`. Throws for an unknown key, and for a placeholder without a value.
   */
  readonly markup: (
    key: string,
    values?: Readonly<Record<string, MessageValue | Content>>,
  ) => string;
  /** Creates an element for `markup()`, for example `tag('strong', text)`. Escapes its text. */
  readonly tag: typeof tag;
}

/** A message key and its values. The message is translated when the reader's language is known. */
export interface Said {
  readonly key: MessageKey;
  readonly values?: MessageValues;
}

/** A translated message, or a text that is the same in every language. */
export type Text = string | Said;

/** A page's title and message. */
export interface PageText {
  readonly title: Text;
  readonly message: Text;
}

/** Returns a page's title and message. `values` fills the placeholders in both. */
export function page(key: PageKey, values: MessageValues = {}): PageText {
  return { title: { key: `${key}.title`, values }, message: { key: `${key}.message`, values } };
}

/** Returns a text in this language. */
export function told({ t }: Words, text: Text): string {
  return typeof text === 'string' ? text : t(text.key, text.values);
}

/** The messages of one language, and the locale for formatting. */
export interface Messages {
  readonly locale: string;
  readonly catalog: Catalog;
}

/**
 * Creates the texts of a language. The first catalog with a message counts, then `own`, then
 * English.
 */
export function createWords(
  locale: string,
  messages: readonly Messages[],
  own: Catalog = {},
): Words {
  const direction = getDirection(locale);
  const chain: readonly Messages[] = [...messages, { locale: 'en', catalog: ENGLISH }];
  const isolated =
    direction === 'rtl' ? (text: string) => `\u2068${text}\u2069` : (text: string) => text;

  /** Joins the parts of a message. `literal` converts its texts, and `insert` its values. */
  function written<Value>(
    key: string,
    values: Readonly<Record<string, Value>>,
    insert: (value: Value, locale: string) => string,
    literal: (text: string) => string,
  ): string {
    const found = chain.find(({ catalog }) => Object.hasOwn(catalog, key));
    const ownText = found === undefined || found.catalog === ENGLISH ? own[key] : undefined;
    // This text comes from the application, so braces in it are not placeholders.
    if (typeof ownText === 'string') return literal(ownText);
    const message = found?.catalog[key];
    if (found === undefined || message === undefined)
      throw new Error(`There is no message '${key}'`);
    return messageParts(textFor(message, found.locale, values))
      .map((part, index) => {
        if (index % 2 === 0) return literal(part);
        const value = Object.hasOwn(values, part) ? values[part] : undefined;
        if (value === undefined)
          throw new Error(`The message '${key}' needs a value for {${part}}`);
        return insert(value, found.locale);
      })
      .join('');
  }

  const asText = (value: MessageValue, rules: string) => {
    const text = shownValue(value, rules);
    return typeof value === 'string' ? isolated(text) : text;
  };

  return {
    locale,
    direction,
    tag,
    t: (key, values = {}) => written(key, values, asText, (text) => text),
    markup: (key, values = {}) =>
      written(
        key,
        values,
        (value, rules) =>
          isContent(value) ? Markup.htmlOf(value) : escapeHtml(asText(value, rules)),
        escapeHtml,
      ),
  };
}

/** A list of plain texts is not HTML content. It is formatted as a list. */
function isContent(value: MessageValue | Content): value is Content {
  return (
    value instanceof Markup ||
    (Array.isArray(value) && value.some((each) => each instanceof Markup))
  );
}

/** The language of logs, and of pages if `oauth_server:languages` is not set. */
export const ENGLISH_WORDS: Words = createWords('en', []);
