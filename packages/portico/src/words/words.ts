import { ENGLISH, type MessageKey, type PageKey } from './english.ts';
import { directionOf } from './language-ranges.ts';
import { escapeHtml, Markup, tag, type Content } from './markup.ts';
import {
  messageParts,
  shownValue,
  textFor,
  type Catalog,
  type MessageValue,
  type MessageValues,
} from './message.ts';

/** The texts of pages in one language. No function here needs to be called as a method. */
export interface Words {
  /** The language's tag (BCP 47), such as `zh-Hans`. */
  readonly locale: string;
  /** How it is written. */
  readonly direction: 'ltr' | 'rtl';
  /**
   * A message as text, still to be escaped: `<%= it.t('consent.title', { client: it.clientName }) %>`. A number `count` chooses the plural form.
   * Where the language is written from right to left, each text that is inserted is isolated, as `<bdi>` does. Throws for a key that there is not and
   * for a placeholder without a value.
   */
  readonly t: (key: string, values?: MessageValues) => string;
  /**
   * A message as HTML, for `<%~ %>`. The message and every value are escaped, but for what `tag()` made:
   * `<%~ it.markup('consent.title', { client: it.tag('bdi', it.clientName), server: it.serverName }) %>`. Throws as `t` does.
   */
  readonly markup: (key: string, values?: Readonly<Record<string, MessageValue | Content>>) => string;
  /** Makes an element for `markup()`, such as `tag('strong', text)`; text in it is escaped. */
  readonly tag: typeof tag;
}

/** A message of a known key with its values, to be told in the reader's language. */
export interface Said {
  readonly key: MessageKey;
  readonly values?: MessageValues;
}

/** A text that is told to everybody as it is, or a message. */
export type Text = string | Said;

/** Title and message of a page. */
export interface PageText {
  readonly title: Text;
  readonly message: Text;
}

/** A page of the catalog: its messages `….title` and `….message`, with the values of both. */
export function page(key: PageKey, values: MessageValues = {}): PageText {
  return { title: { key: `${key}.title`, values }, message: { key: `${key}.message`, values } };
}

/** The text itself. */
export function told({ t }: Pick<Words, 't'>, text: Text): string {
  return typeof text === 'string' ? text : t(text.key, text.values);
}

/** The messages of one language, with the language whose rules they follow. */
export interface Messages {
  readonly locale: string;
  readonly catalog: Catalog;
}

/** A language; of what the first messages do not have, the next are asked, and English is the last. */
export function createWords(locale: string, messages: readonly Messages[], own: Catalog = {}): Words {
  const direction = directionOf(locale);
  const chain: readonly Messages[] = [...messages, { locale: 'en', catalog: ENGLISH }];
  const isolated = direction === 'rtl' ? (text: string) => `\u2068${text}\u2069` : (text: string) => text;

  /** The parts of the text, every second of which `insert` has written. */
  function written<Value>(
    key: string,
    values: Readonly<Record<string, Value>>,
    insert: (value: Value, locale: string) => string,
    literal: (text: string) => string,
  ): string {
    const found = chain.find(({ catalog }) => Object.hasOwn(catalog, key));
    const ownText = found === undefined || found.catalog === ENGLISH ? own[key] : undefined;
    // What the application itself says has no placeholders, whatever stands in it.
    if (typeof ownText === 'string') return literal(ownText);
    const message = found?.catalog[key];
    if (found === undefined || message === undefined) throw new Error(`There is no message '${key}'`);
    return messageParts(textFor(message, found.locale, values))
      .map((part, index) => {
        if (index % 2 === 0) return literal(part);
        const value = Object.hasOwn(values, part) ? values[part] : undefined;
        if (value === undefined) throw new Error(`The message '${key}' needs a value for {${part}}`);
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
        (value, rules) => (isContent(value) ? Markup.htmlOf(value) : escapeHtml(asText(value, rules))),
        escapeHtml,
      ),
  };
}

/** A list of mere texts is a list of the language. */
function isContent(value: MessageValue | Content): value is Content {
  return value instanceof Markup || (Array.isArray(value) && value.some((each) => each instanceof Markup));
}

/** What is said in English: the language of logs and of pages unless `oauth_server:languages` is set. */
export const ENGLISH_WORDS: Words = createWords('en', []);
