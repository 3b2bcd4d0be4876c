import type { Random } from './random.ts';

/** Values that a reader of JSON may not expect. */
const ODD: readonly unknown[] = [
  null, true, false, 0, -1, 0.5, 1e21, 2 ** 53, '', ' ', 'a', '\0', '\uD800', '\u202E', '__proto__', [], {}, [null], [[]], [''], [{}], { a: 1 },
]; // prettier-ignore

interface Place {
  readonly holder: Record<string, unknown>;
  readonly name: string;
}

/**
 * Changes one place of the JSON in this input, as JSON. The JSON is the whole input or one line. If
 * there is no JSON, returns the input unchanged.
 */
export function changedJson(input: Buffer, random: Random, words: readonly string[]): Buffer {
  const text = input.toString('utf8');
  const whole = parsed(text);
  if (whole !== undefined) return Buffer.from(changed(whole, random, words));
  const lines = text.split('\n');
  const at = lines.flatMap((line, index) => (/^\s*[[{]/.test(line) ? [index] : []));
  const one = random.pick(at);
  const value = one === undefined ? undefined : parsed(lines[one] ?? '');
  if (one === undefined || value === undefined) return input;
  lines[one] = changed(value, random, words);
  return Buffer.from(lines.join('\n'));
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function changed(value: unknown, random: Random, words: readonly string[]): string {
  const root: Record<string, unknown> = { '': value };
  const places: Place[] = [];
  collect(root, places);
  const { holder, name } = random.pick(places) ?? { holder: root, name: '' };
  const copy = (value: unknown) => JSON.parse(JSON.stringify(value) ?? 'null') as unknown;
  const own = copy(holder[name]);
  const way = random.below(9);
  if (Array.isArray(holder) && random.oneIn(3))
    changeList(holder, Number(name), own, random, words);
  else if (way === 0) delete holder[name];
  else if (way === 1) holder[name] = random.pick(ODD);
  else if (way === 2) holder[name] = [own, own];
  else if (way === 3) holder[name] = random.pick(words) ?? '';
  else if (way === 4 && Array.isArray(holder)) holder.push(own);
  else if (way === 4) holder[random.pick(words) ?? 'a'] = own;
  else if (way === 5) {
    const other = random.pick(places);
    holder[name] = copy(other?.holder[other.name]);
  } else if (way === 6) holder[name] = String(own);
  else if (way === 7)
    holder[name] = typeof own === 'string' ? [own] : { [random.pick(words) ?? 'a']: own };
  else return repeatedMember(JSON.stringify(root['']) ?? 'null', random);
  return JSON.stringify(root['']) ?? 'null';
}

/** Removes an item, repeats one, or adds a word. */
function changeList(
  list: unknown[],
  at: number,
  own: unknown,
  random: Random,
  words: readonly string[],
): void {
  const added = random.oneIn(2) ? own : (random.pick(words) ?? '');
  if (random.oneIn(3)) list.splice(at, 1);
  else list.splice(at, 0, added);
}

function collect(holder: object, places: Place[]): void {
  for (const [name, value] of Object.entries(holder)) {
    places.push({ holder: holder as Record<string, unknown>, name });
    if (typeof value === 'object' && value !== null && places.length < 200)
      collect(value as object, places);
  }
}

/** Repeats a member of an object. No JavaScript object could contain it twice. */
function repeatedMember(json: string, random: Random): string {
  const found = [...json.matchAll(/"[^"\\]*":(?:"[^"\\]*"|[\w.-]+)/g)];
  const [one, other] = [random.pick(found), random.pick(found)];
  if (one === undefined || other === undefined) return json;
  return `${json.slice(0, one.index)}${other[0]},${json.slice(one.index)}`;
}
