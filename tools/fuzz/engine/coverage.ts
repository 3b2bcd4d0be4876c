import path from 'node:path';

/**
 * The functions that the instrumented code calls, and what they have recorded. Each thread has its
 * own.
 */
export interface Coverage {
  /** Forgets what was recorded for the last input. */
  begin(): void;
  /**
   * What was new about the last input. `place`: it entered a place for the first time. `count`: it
   * entered a place more often than any input before.
   */
  news(): 'place' | 'count' | null;
  /** Returns the places that the last input entered. */
  entered(): readonly number[];
  /** Returns how many places have been entered so far. */
  total(): number;
  /**
   * Returns how many times the last input entered places in total. This measures the input's work,
   * independent of other programs on the machine.
   */
  work(): number;
  /**
   * Pairs of texts that the code compared for the last inputs: the text in the input, and the text
   * that it was compared with.
   */
  readonly compared: readonly (readonly [string, string])[];
  /** Texts in the source. */
  readonly words: readonly string[];
}

const MOST_COMPARED = 256;
const LONGEST = 200;

/** Parts of paths on this machine. A stored input must not contain them. */
const OF_THIS_MACHINE = [path.join(import.meta.dirname, '..', '..', '..'), 'portico-fuzz-'];

/** Starts to count for this thread. Call it before any instrumented file is loaded. */
export function startCoverage(places: number): Coverage {
  const counts = new Uint32Array(places);
  const touched = new Uint32Array(places);
  const seen = new Uint8Array(places);
  const compared: [string, string][] = [];
  const words = new Set<string>();
  const list: string[] = [];
  let [top, total, at] = [0, 0, 0];

  function note(one: string, other: string): void {
    if (one.length > LONGEST || other.length > LONGEST || other === '') return;
    if (OF_THIS_MACHINE.some((each) => other.includes(each))) return;
    compared[at] = [one, other];
    at = (at + 1) % MOST_COMPARED;
  }

  const hooks = {
    c(place: number): void {
      const count = counts[place] ?? 0;
      if (count === 0) touched[top++] = place;
      counts[place] = count + 1;
    },
    e(one: unknown, other: unknown): boolean {
      if (typeof one === 'string' && typeof other === 'string' && one !== other) {
        note(one, other);
        note(other, one);
      }
      return one === other;
    },
    w(text: unknown): unknown {
      if (typeof text === 'string') note('', text);
      return text;
    },
    l(found: readonly string[]): void {
      for (const word of found) {
        if (!words.has(word)) list.push(word);
        words.add(word);
      }
    },
  };
  Object.assign(globalThis, { __fuzz: hooks });

  return {
    begin() {
      for (let index = 0; index < top; index += 1) counts[touched[index] ?? 0] = 0;
      top = 0;
    },
    news() {
      let found: 'place' | 'count' | null = null;
      for (let index = 0; index < top; index += 1) {
        const place = touched[index] ?? 0;
        const before = seen[place] ?? 0;
        const now = before | bucket(counts[place] ?? 0);
        if (now === before) continue;
        if (before === 0) total += 1;
        seen[place] = now;
        found = before === 0 ? 'place' : (found ?? 'count');
      }
      return found;
    },
    entered: () => [...touched.subarray(0, top)],
    total: () => total,
    work() {
      let sum = 0;
      for (let index = 0; index < top; index += 1) sum += counts[touched[index] ?? 0] ?? 0;
      return sum;
    },
    compared,
    words: list,
  };
}

/** Groups counts: one, two, three, or roughly how many. Each group is one bit of eight. */
function bucket(count: number): number {
  if (count < 4) return 1 << (count - 1);
  if (count < 8) return 8;
  if (count < 16) return 16;
  if (count < 32) return 32;
  return count < 128 ? 64 : 128;
}
