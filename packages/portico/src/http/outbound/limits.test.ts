import { expect, test } from 'vitest';
import { OutboundLimits, OutboundError, type Count } from './limits.ts';

const MINUTE = 60_000;

function startLimits() {
  const counts = new Map<string, Count>();
  const clock = { now: 1_800_000_000_000 };
  const limits = new OutboundLimits(() => clock.now, counts);
  const fetch = (person: string, host: string) =>
    limits.within(
      { url: new URL(`https://${host}/`), person, isKnown: false },
      async () => 'answered',
    );
  return { counts, clock, fetch };
}

test('a refused outbound request is not counted, whatever host or person it names', async () => {
  const { counts, fetch } = startLimits();
  for (let number = 1; number <= 10; number += 1) await fetch('ada', `h${number}.example`);
  for (let number = 1; number <= 60; number += 1) await fetch(`person ${number}`, 'client.example');
  const before = counts.size;
  for (let number = 11; number <= 1000; number += 1) {
    await expect(fetch('ada', `h${number}.example`)).rejects.toThrow(OutboundError);
    await expect(fetch(`person ${60 + number}`, 'client.example')).rejects.toThrow(OutboundError);
  }
  expect(counts.size).toBe(before);
});

test('outbound requests are counted for at most two minutes, so that the counts stay bounded', async () => {
  const { counts, clock, fetch } = startLimits();
  for (let minute = 1; minute <= 5; minute += 1) {
    for (let number = 1; number <= 300; number += 1) {
      await fetch(`person ${minute} ${number}`, `h${minute}-${number}.example`);
    }
    await expect(fetch('ada', 'one-more.example')).rejects.toThrow('in total');
    // There is one count for all requests, and three counts for each request.
    expect(counts.size).toBeLessThanOrEqual(1 + 2 * 3 * 300);
    clock.now += MINUTE;
  }
  await fetch('ada', 'client.example');
  clock.now += MINUTE;
  await fetch('grace', 'client.example');
  expect(counts.size).toBeLessThan(10);
});

test('a running outbound request is counted however long it takes', async () => {
  const { clock, fetch, counts } = startLimits();
  let finish = () => {};
  const limits = new OutboundLimits(() => clock.now, counts);
  const held = new Promise<void>((resolve) => (finish = resolve));
  const slow = () =>
    limits.within(
      { url: new URL('https://h.example/'), person: 'ada', isKnown: false },
      () => held,
    );
  const running = [slow(), slow()];
  for (let minute = 1; minute <= 3; minute += 1) {
    clock.now += MINUTE;
    await expect(fetch('ada', 'h.example')).rejects.toThrow('for ada of h.example');
    await fetch('grace', 'other.example');
  }
  finish();
  await Promise.all(running);
  expect(await fetch('ada', 'h.example')).toBe('answered');
});

test('signed-in people and strangers have separate limits, and those of strangers are lower', async () => {
  const { counts, clock } = startLimits();
  const limits = new OutboundLimits(() => clock.now, counts);
  const fetch = (number: number, isStranger: boolean) =>
    limits.within(
      {
        url: new URL(`https://h${number % 10}.example/`),
        person: `who ${number}`,
        isKnown: false,
        ...(isStranger ? { isStranger } : {}),
      },
      async () => 'answered',
    );
  for (let number = 0; number < 200; number += 1) await fetch(number, false);
  for (let number = 0; number < 60; number += 1) await fetch(number, true);
  await expect(fetch(60, true)).rejects.toThrow('in total');
  for (let number = 200; number < 300; number += 1)
    expect(await fetch(number, false)).toBe('answered');
});
