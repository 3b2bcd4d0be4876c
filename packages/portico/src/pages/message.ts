/**
 * A text with placeholders, for example `{client}`, or one text for each plural form of the number
 * `count`.
 */
export type Message = string | PluralForms;

/** Texts by category of `Intl.PluralRules`. A missing category uses the text of `other`. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & {
  readonly other: string;
};

/** Messages by key. */
export type Catalog = Readonly<Record<string, Message>>;

/**
 * A placeholder's value. Numbers, dates (in UTC) and lists are formatted for the page's language.
 */
export type MessageValue = string | number | Date | readonly string[];

/** The values for a message, by placeholder name. */
export type MessageValues = Readonly<Record<string, MessageValue>>;

export const PLURAL_CATEGORIES: readonly string[] = ['zero', 'one', 'two', 'few', 'many', 'other'];

const PLACEHOLDER = /\{([a-z_]+)\}/;

/**
 * Splits a message into alternating texts and placeholder names. The first and last items are
 * texts.
 */
export function messageParts(text: string): readonly string[] {
  return text.split(PLACEHOLDER);
}

/** Returns the names of the placeholders in a message. */
export function getPlaceholders(text: string): ReadonlySet<string> {
  return new Set(messageParts(text).filter((_, index) => index % 2 === 1));
}

/** Returns all texts of a message. */
export function getForms(message: Message): readonly string[] {
  return typeof message === 'string' ? [message] : Object.values(message);
}

/**
 * Returns the message's text. If the message has plural forms, returns the one for the number
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

/** Formats a value for a language. */
export function shownValue(value: MessageValue, locale: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return new Intl.NumberFormat(locale).format(value);
  if (value instanceof Date)
    return value.toLocaleDateString(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(value);
}
