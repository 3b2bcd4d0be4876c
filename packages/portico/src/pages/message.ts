/**
 * A text with placeholders, for example `{client}`. A text that depends on the number `count` has
 * one text for each plural form.
 */
export type Message = string | PluralForms;

/** One text for each category of `Intl.PluralRules`. `other` replaces a missing category. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & {
  readonly other: string;
};

export type Catalog = Readonly<Record<string, Message>>;

/** The value of a placeholder. Numbers, dates (in UTC) and lists are formatted for the language. */
export type MessageValue = string | number | Date | readonly string[];

export type MessageValues = Readonly<Record<string, MessageValue>>;

export const PLURAL_CATEGORIES: readonly string[] = ['zero', 'one', 'two', 'few', 'many', 'other'];

const PLACEHOLDER = /\{([a-z_]+)\}/;

/**
 * Returns texts and placeholder names in turn. The first and the last item are texts, which may be
 * empty.
 */
export function messageParts(text: string): readonly string[] {
  return text.split(PLACEHOLDER);
}

export function getPlaceholders(text: string): ReadonlySet<string> {
  return new Set(messageParts(text).filter((_, index) => index % 2 === 1));
}

/** Returns one text for each plural form. */
export function getForms(message: Message): readonly string[] {
  return typeof message === 'string' ? [message] : Object.values(message);
}

/** Returns the text for the number `count` if the message has plural forms. */
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

export function shownValue(value: MessageValue, locale: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return new Intl.NumberFormat(locale).format(value);
  if (value instanceof Date)
    return value.toLocaleDateString(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return new Intl.ListFormat(locale, { type: 'conjunction' }).format(value);
}
