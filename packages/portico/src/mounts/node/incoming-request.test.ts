import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { BodyTakenError } from '../../http/body.ts';
import { incomingRequest } from './incoming-request.ts';

test('the text of a body that other code has read is an error that says so', async () => {
  const taken = new BodyTakenError('the request', "the request's body");
  const request = incomingRequest({
    incoming: { method: 'POST' } as IncomingMessage,
    headers: () => new Headers(),
    body: () => taken,
    request: (headers) => new Request('https://app.example', { headers }),
  });
  await expect(request.text()).rejects.toBe(taken);
});
