import type { HoldingClient, PersonReference } from 'portico';
import { isVerified, quoted } from 'portico/extension';
import type { Asked } from './page.ts';
import type { PageLinks } from './links.ts';
import type { KnownPerson } from './people.ts';
import { markup, type HtmlContent, type Html } from './html.ts';

/** Formats a time in UTC. `time` is in milliseconds since 1970. */
export function moment(time: number): Html {
  const iso = new Date(time).toISOString();
  return markup`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

/**
 * Formats a string from an untrusted source. If the string contains right-to-left text, the `bdi`
 * element keeps it from reordering the text around it.
 */
export function words(text: string): Html {
  return markup`<bdi>${text}</bdi>`;
}

export function code(text: string): Html {
  return markup`<code>${words(visible(text))}</code>`;
}

/** Replaces each invisible character with its Unicode escape, such as `\u{200b}`. */
function visible(text: string): string {
  return text.replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (each) => `\\u{${each.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}

/**
 * Formats a client's name. If the client may have chosen the name itself, adds quotation marks, as
 * the CLI does.
 */
export function clientName({ name, registeredBy }: HoldingClient): Html {
  return words(isVerified({ registeredBy }) ? name : quoted(name));
}

function personName({ provider, id }: PersonReference): Html {
  return markup`${code(id)} <span class="soft">(${words(visible(provider))})</span>`;
}

/** Formats a user as a link to the user's page, followed by the id and other account data. */
export function personRow(links: PageLinks, person: PersonReference, known: KnownPerson): Html {
  return markup`<p class="person"><a href="${links.person(person.provider, person.id)}">${calledBy(person, known)}</a> ${aboutPerson(person, known)}</p>`;
}

/**
 * Returns the name to show for a user: the user's name, the email address if the name is missing,
 * or the id if both are missing.
 */
export function calledBy({ id }: PersonReference, { name, email }: KnownPerson): Html {
  const called = name ?? email;
  return called === null ? code(id) : words(visible(called));
}

/**
 * Formats what the page shows after the user's name: the email address, the id, the provider, and
 * the state of the account.
 */
export function aboutPerson(person: PersonReference, { name, email, account }: KnownPerson): Html {
  const reference =
    name === null && email === null
      ? markup`<span class="soft">(${words(visible(person.provider))})</span>`
      : personName(person);
  const state = ACCOUNTS[account];
  return markup`${name === null || email === null ? null : markup`<span class="mail">${words(visible(email))}</span> `}<span class="soft">${reference}</span>${
    state === null ? null : markup` <span class="badge">${state}</span>`
  }`;
}

/** The label for each state of an account. Null for states that the page does not show. */
const ACCOUNTS: Readonly<Record<KnownPerson['account'], string | null>> = {
  active: null,
  suspended: 'suspended',
  gone: 'no account',
  unknown: null,
};

export function list(values: readonly string[]): HtmlContent {
  return values.length === 0
    ? 'none'
    : markup`<ul role="list">${values.map((each) => markup`<li>${code(each)}</li>`)}</ul>`;
}

/** Formats a list of names and values. Omits entries without a value. */
export function facts(entries: readonly (readonly [name: string, value: HtmlContent])[]): Html {
  const given = entries.filter(
    ([, value]) => value !== null && value !== undefined && value !== false,
  );
  return markup`<dl class="facts">${given.map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/**
 * Returns the notice to show after an action, or null. `told` maps the name of each action to its
 * notice. The URL contains only the action's name, so a link from an attacker cannot put text on
 * the page.
 */
export function notice({ done }: Asked, told: Readonly<Record<string, string>>): HtmlContent {
  return Object.hasOwn(told, done)
    ? markup`<p class="notice" role="status">${told[done] ?? ''}</p>`
    : null;
}

/**
 * Formats an alert that says why the request was rejected. If the request contained a form, the
 * alert also says that nothing was changed.
 */
export function alert(
  refused: { readonly reason: string; readonly form?: unknown } | undefined,
): Html {
  if (refused === undefined) return markup``;
  const nothing = refused.form === undefined ? null : ' Nothing was changed.';
  return markup`<p class="alert" role="alert">${words(refused.reason)}.${nothing}</p>`;
}

/**
 * Formats a new secret. The page shows the secret only once, because the server stores only its
 * hash.
 */
export function secretOnce(label: string, secret: string): Html {
  return markup`<p class="notice" role="status">${label} <strong>Copy it now. It is not shown again: only its hash is stored.</strong>
    <code class="secret">${secret}</code></p>`;
}
