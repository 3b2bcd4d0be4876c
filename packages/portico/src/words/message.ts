/**
 * A text with placeholders such as `{client}`, or one text for each plural form of the number
 * `count`.
 */
export type Message = string | PluralForms;

/** The texts for the categories of `Intl.PluralRules`. A missing category uses `other`. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & {
  readonly other: string;
};

/** Messages by key. */
export type Catalog = Readonly<Record<string, Message>>;

/**
 * A placeholder's value. Numbers, dates (in UTC) and lists are formatted in the way of the
 * language.
 */
export type MessageValue = string | number | Date | readonly string[];

/** The values for a message, by placeholder name. */
export type MessageValues = Readonly<Record<string, MessageValue>>;

export const PLURAL_CATEGORIES: readonly string[] = ['zero', 'one', 'two', 'few', 'many', 'other'];

const PLACEHOLDER = /\{([a-z_]+)\}/;

/** Returns texts and placeholder names alternately. The first and the last are texts. */
export function messageParts(text: string): readonly string[] {
  return text.split(PLACEHOLDER);
}

/** Returns the names of the placeholders in a text. */
export function getPlaceholders(text: string): ReadonlySet<string> {
  return new Set(messageParts(text).filter((_, index) => index % 2 === 1));
}

/** Returns all texts of a message. */
export function getForms(message: Message): readonly string[] {
  return typeof message === 'string' ? [message] : Object.values(message);
}

/**
 * Returns the message's text. If the message has plural forms, returns the form for the number
 * `count`.
 */
export function textFor(
  message: Message,
  locale: string,
  values: Readonly<Record<string, unknown>>,
): string {
  if (typeof message === 'string') return message;
  const { count } = values;
  const category = typeof count === 'number' ? new Intl.PluralRules(locale).select(count) : 'other';
  return message[category] ?? message.other;
}

/** Returns a value, formatted for a language. */
export function shownValue(value: MessageValue, locale: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return new Intl.NumberFormat(locale).format(value);
  if (value instanceof Date)
    return value.toLocaleDateString(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(value);
}
