import { AccessError, type PersonReference } from 'portico';
import { markup, type Html } from './html.ts';
import type { Asked } from './page.ts';

/** A filter for a list. `name` is its query parameter, and `text` is its label. */
export interface Filter {
  readonly name: string;
  readonly text: string;
  readonly type?: 'date';
  /** The values that the user can choose, in addition to "all". */
  readonly options?: readonly string[];
}

/** Returns the filter form of a list, filled with the current values. */
export function filterForm({ query }: Asked, action: string, filters: readonly Filter[]): Html {
  return markup`
      <form method="get" action="${action}" class="filters">${filters.map((filter) => field(filter, query.get(filter.name) ?? ''))}
        <div><button type="submit">Show these</button></div>
      </form>`;
}

function field({ name, text, type, options }: Filter, value: string): Html {
  const label = markup`<label for="${name}">${text}</label>`;
  if (options === undefined) {
    return markup`
        <div>${label}<input id="${name}" name="${name}" type="${type ?? 'text'}" value="${value}" autocomplete="off" spellcheck="false"></div>`;
  }
  const choices = ['', ...options].map((each) => {
    const selected = each === value ? markup` selected` : null;
    return markup`<option value="${each}"${selected}>${each === '' ? 'all' : each}</option>`;
  });
  return markup`
        <div>${label}<select id="${name}" name="${name}">${choices}</select></div>`;
}

/** Returns the current value of each filter, for links to other pages of the same list. */
export function readFilters(
  { query }: Asked,
  filters: readonly Filter[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(filters.map(({ name }) => [name, query.get(name) ?? '']));
}

/**
 * Returns the user that the parameters `provider` and `person` identify, or null if both parameters
 * are missing. Throws an AccessError if only one of them is present.
 */
export function personIn({ query }: Asked): PersonReference | null {
  const [provider, id] = [query.get('provider'), query.get('person')];
  if (provider === undefined && id === undefined) return null;
  if (provider !== undefined && id !== undefined) return { provider, id };
  throw new AccessError("Enter both the provider and the person's id");
}
