/**
 * A text with placeholders, for example `{client}`. If the text depends on the number `count`,
 * there is one text for each plural form instead.
 */
export type Message = string | PluralForms;

/**
 * One text for each category of `Intl.PluralRules`. For a missing category, the text of `other` is
 * used.
 */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & {
  readonly other: string;
};

/** Messages by key. */
export type Catalog = Readonly<Record<string, Message>>;

/**
 * The value of a placeholder. Numbers, dates (in UTC) and lists are formatted for the language of
 * the message.
 */
export type MessageValue = string | number | Date | readonly string[];

/** The values for the placeholders in a message, by name. */
export type MessageValues = Readonly<Record<string, MessageValue>>;

export const PLURAL_CATEGORIES: readonly string[] = ['zero', 'one', 'two', 'few', 'many', 'other'];

const PLACEHOLDER = /\{([a-z_]+)\}/;

/**
 * Splits a message into an alternating list of texts and placeholder names. The first and the last
 * item are always texts, which may be empty.
 */
export function messageParts(text: string): readonly string[] {
  return text.split(PLACEHOLDER);
}

/** Returns the names of the placeholders in a message. */
export function getPlaceholders(text: string): ReadonlySet<string> {
  return new Set(messageParts(text).filter((_, index) => index % 2 === 1));
}

/** Returns all texts of a message: one for each plural form. */
export function getForms(message: Message): readonly string[] {
  return typeof message === 'string' ? [message] : Object.values(message);
}

/**
 * Returns the text of a message. If the message has plural forms, returns the form for the number
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

/** Formats a value for display in a language. */
export function shownValue(value: MessageValue, locale: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return new Intl.NumberFormat(locale).format(value);
  if (value instanceof Date)
    return value.toLocaleDateString(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(value);
}
