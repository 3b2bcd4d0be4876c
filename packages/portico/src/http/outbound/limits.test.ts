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

test('requests that send data have a limit for their host, apart from documents', async () => {
  const { clock, fetch, counts } = startLimits();
  const limits = new OutboundLimits(() => clock.now, counts);
  const limit = { atOnce: 2, inAMinute: 3 };
  const send = (host: string, work = async () => 'sent') =>
    limits.withinHost(new URL(`https://${host}/`), limit, work);
  for (let number = 1; number <= 3; number += 1) expect(await send('a.example')).toBe('sent');
  const refused = await send('a.example').catch((error: unknown) => error);
  expect(refused).toMatchObject({
    name: 'OutboundError',
    message: 'too many requests were sent to a.example within a minute, or are being sent now',
    retryAfter: 60,
  });
  expect(await send('b.example')).toBe('sent');
  expect(await fetch('ada', 'a.example')).toBe('answered');
  clock.now += MINUTE - 1;
  await expect(send('a.example')).rejects.toThrow('to a.example');
  clock.now += 1;
  const held = Promise.withResolvers<string>();
  const running = [send('a.example', () => held.promise), send('a.example', () => held.promise)];
  await expect(send('a.example')).rejects.toThrow('to a.example');
  held.resolve('sent');
  await Promise.all(running);
  expect(await send('a.example')).toBe('sent');
  // The minute began with the first of these three.
  await expect(send('a.example')).rejects.toThrow('to a.example');
});

test('a minute begins again after the clock was set back', async () => {
  const { clock, fetch } = startLimits();
  for (let number = 1; number <= 5; number += 1) await fetch('ada', 'a.example');
  await expect(fetch('ada', 'a.example')).rejects.toThrow('for ada of a.example');
  clock.now -= 2 * MINUTE;
  expect(await fetch('ada', 'a.example')).toBe('answered');
});

test('old counts are removed once a minute, and not those of this minute', async () => {
  const { counts, clock, fetch } = startLimits();
  await fetch('ada', 'a.example');
  clock.now += MINUTE - 1;
  await fetch('grace', 'b.example');
  expect(counts.size).toBe(7);
  clock.now += 1;
  await fetch('linus', 'c.example');
  // The counts of Ada and her host are gone.
  expect(counts.size).toBe(7);
  clock.now += MINUTE - 1;
  await fetch('edsger', 'd.example');
  expect(counts.size).toBe(10);
});

test('URLs that failed have separate counts', async () => {
  const { clock, counts, fetch } = startLimits();
  const limits = new OutboundLimits(() => clock.now, counts);
  const url = new URL('https://a.example/');
  const failed = { url, person: 'ada', isKnown: false, hasFailed: true };
  for (let number = 1; number <= 5; number += 1) await fetch('ada', 'a.example');
  expect(await limits.within(failed, async () => 'answered')).toBe('answered');
});

test('a count that is older than a minute begins again', async () => {
  const { clock, fetch } = startLimits();
  await fetch('ada', 'a.example');
  clock.now += MINUTE - 1;
  await fetch('grace', 'b.example');
  clock.now += 1;
  // This removes the counts of Ada, but not those of Grace.
  await fetch('linus', 'c.example');
  clock.now += MINUTE - 1;
  for (let number = 1; number <= 5; number += 1) await fetch('grace', 'b.example');
  await expect(fetch('grace', 'b.example')).rejects.toThrow('for grace of b.example');
});
