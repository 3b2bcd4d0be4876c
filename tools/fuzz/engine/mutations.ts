import type { Random } from './random.ts';
import { changedJson } from './json-mutations.ts';

/** The material for new inputs. */
export interface Material {
  readonly random: Random;
  /** Words of the target's grammar. */
  readonly dictionary: readonly string[];
  /** Words in the source. */
  readonly words: readonly string[];
  /** Pairs of texts that the code compared: the text in the input, and the expected text. */
  readonly compared: readonly (readonly [string, string])[];
  /** Returns another input. */
  readonly other: () => Buffer;
  /** The longest input, in bytes. */
  readonly longest: number;
}

type Mutation = (input: Buffer, material: Material) => Buffer;

const ODD_BYTES = [
  0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x2b, 0x2c, 0x2e, 0x3b, 0x5c, 0x7f, 0x80, 0xc0, 0xed,
  0xff,
];
const ODD_TEXTS = [
  '%', '%zz', '%00', '%0a', '%c0%af', '%ed%a0%80', '%2e%2e', '%25', '+', '&', '=', ';', ',', ':', '//', '/\\', '..', '@', '#', '?',
  '[', ']', '{', '}', '"', '\\', '\\u0000', '\\ud800', '__proto__', 'constructor', 'null', 'true', '[]', '{}', '""', '-1', '0', '1e999',
  '9007199254740993', '\r\n', '\u{FEFF}', '\u{FFFD}', '\u202E', '\u00E9', '\u00DF', '\u0130', '\u{1F600}', '\u00A0', 'xn--', '127.0.0.1', '[::1]', 'localhost',
]; // prettier-ignore
const NUMBERS = [
  '0',
  '1',
  '-1',
  '2',
  '7',
  '255',
  '256',
  '65535',
  '65536',
  '2147483648',
  '4294967296',
  '9007199254740992',
  '1e400',
  '0.5',
];
const SEPARATORS = ['&', ';', ',', ' ', '.', '/', '\n', ':', '='];

const latin1 = (input: Buffer) => input.toString('latin1');
const bytes = (text: string) => Buffer.from(text, 'latin1');

function range(input: Buffer, { random }: Material): [number, number] {
  const from = random.below(input.length + 1);
  const most = random.oneIn(4) ? input.length : 16;
  return [from, Math.min(input.length, from + 1 + random.below(most))];
}

function put(input: Buffer, text: Buffer, { random }: Material): Buffer {
  const from = random.below(input.length + 1);
  const replaced = random.oneIn(2) ? Math.min(text.length, input.length - from) : 0;
  return Buffer.concat([input.subarray(0, from), text, input.subarray(from + replaced)]);
}

const flipped: Mutation = (input, { random }) => {
  if (input.length === 0) return Buffer.from([random.below(256)]);
  const changed = Buffer.from(input);
  const at = random.below(changed.length);
  changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
  return changed;
};

const oddByte: Mutation = (input, material) =>
  put(input, Buffer.from([material.random.pick(ODD_BYTES) ?? 0]), material);
const oddText: Mutation = (input, material) =>
  put(input, Buffer.from(material.random.pick(ODD_TEXTS) ?? '', 'utf8'), material);
const plainText: Mutation = (input, material) =>
  put(input, Buffer.from([0x21 + material.random.below(94)]), material);

const removed: Mutation = (input, material) => {
  const [from, to] = range(input, material);
  return Buffer.concat([input.subarray(0, from), input.subarray(to)]);
};

const repeated: Mutation = (input, material) => {
  const [from, to] = range(input, material);
  return Buffer.concat([input.subarray(0, to), input.subarray(from)]);
};

const moved: Mutation = (input, material) => {
  const [from, to] = range(input, material);
  const rest = Buffer.concat([input.subarray(0, from), input.subarray(to)]);
  const at = material.random.below(rest.length + 1);
  return Buffer.concat([rest.subarray(0, at), input.subarray(from, to), rest.subarray(at)]);
};

/** Repeats a part many times, to find code that takes quadratic time. */
const pumped: Mutation = (input, material) => {
  const [from, to] = range(input, material);
  if (from === to) return input;
  const length = material.random.oneIn(2) ? material.longest : 1 + material.random.below(4096);
  const times = Math.max(1, Math.floor((length - input.length) / (to - from)));
  const part = latin1(input.subarray(from, to)).repeat(times);
  return Buffer.concat([
    input.subarray(0, from),
    bytes(part),
    input.subarray(material.random.oneIn(2) ? to : from),
  ]);
};

const fromDictionary: Mutation = (input, material) =>
  put(input, Buffer.from(material.random.pick(material.dictionary) ?? '', 'utf8'), material);
const fromSource: Mutation = (input, material) =>
  put(input, Buffer.from(material.random.pick(material.words) ?? '', 'utf8'), material);

/** Replaces a text by the text with which the code compared it. */
const asCompared: Mutation = (input, material) => {
  for (let tries = 0; tries < 8; tries += 1) {
    const [was, asked] = material.random.pick(material.compared) ?? ['', ''];
    if (asked === '') continue;
    const text = latin1(input);
    const at = was === '' ? -1 : text.indexOf(Buffer.from(was, 'utf8').toString('latin1'));
    const wished = Buffer.from(asked, 'utf8');
    if (at >= 0) {
      const after = at + Buffer.byteLength(was);
      return Buffer.concat([input.subarray(0, at), wished, input.subarray(after)]);
    }
    if (was === '' || material.random.oneIn(4)) return put(input, wished, material);
  }
  return input;
};

const spliced: Mutation = (input, material) => {
  const other = material.other();
  return Buffer.concat([
    input.subarray(0, material.random.below(input.length + 1)),
    other.subarray(material.random.below(other.length + 1)),
  ]);
};

const renumbered: Mutation = (input, { random }) => {
  const text = latin1(input);
  const found = [...text.matchAll(/-?\d+(?:\.\d+)?/g)];
  const one = random.pick(found);
  if (one === undefined) return input;
  const near =
    random.oneIn(2) && one[0].length < 15
      ? String(Number(one[0]) + random.below(5) - 2)
      : random.pick(NUMBERS);
  return bytes(text.slice(0, one.index) + (near ?? '0') + text.slice(one.index + one[0].length));
};

/** Changes the parts between separators: swaps, repeats, removes or empties them. */
const parted: Mutation = (input, { random }) => {
  const separator = random.pick(SEPARATORS) ?? '&';
  const parts = latin1(input).split(separator);
  if (parts.length < 2) return input;
  const [one, other] = [random.below(parts.length), random.below(parts.length)];
  const part = parts[one] ?? '';
  const way = random.below(5);
  if (way === 0) parts.splice(one, 1);
  else if (way === 1) parts.splice(other, 0, part);
  else if (way === 2) parts[one] = '';
  else if (way === 3) [parts[one], parts[other]] = [parts[other] ?? '', part];
  else parts[one] = `${part}${parts[other] ?? ''}`;
  return bytes(parts.join(separator));
};

const recoded: Mutation = (input, material) => {
  const [from, to] = range(input, material);
  const part = input.subarray(from, to);
  const text = latin1(part);
  const way = material.random.below(5);
  const coded =
    way === 0
      ? text.replaceAll(/[\s\S]/g, (each) => `%${each.charCodeAt(0).toString(16).padStart(2, '0')}`)
      : way === 1
        ? text.toUpperCase().slice(0, text.length)
        : way === 2
          ? part.toString('base64url')
          : way === 3
            ? part.toString('base64')
            : text.toLowerCase();
  return Buffer.concat([input.subarray(0, from), bytes(coded), input.subarray(to)]);
};

const json: Mutation = (input, { random, words, dictionary }) =>
  changedJson(input, random, random.oneIn(2) ? words : dictionary);

const MUTATIONS: readonly (readonly [times: number, mutation: Mutation])[] = [
  [4, flipped],
  [4, oddByte],
  [8, oddText],
  [6, plainText],
  [8, removed],
  [5, repeated],
  [4, moved],
  [10, fromDictionary],
  [4, fromSource],
  [14, asCompared],
  [5, spliced],
  [5, renumbered],
  [8, parted],
  [4, recoded],
  [12, json],
];
const BAG = MUTATIONS.flatMap(([times, mutation]) => Array.from({ length: times }, () => mutation));
/** One input in this many is a long one. */
const PUMPED = 150;

/** Returns an input that differs a little from this one. */
export function mutate(input: Buffer, material: Material): Buffer {
  const { random, longest } = material;
  let changed = input;
  const steps = 1 + random.below(random.oneIn(3) ? 8 : 2);
  for (let step = 0; step < steps; step += 1)
    changed = (random.pick(BAG) ?? flipped)(changed, material).subarray(0, 2 * longest);
  if (random.oneIn(PUMPED)) changed = pumped(changed, material);
  return changed.length > longest ? changed.subarray(0, longest) : changed;
}
