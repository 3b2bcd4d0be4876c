import { describe, expect, test } from 'vitest';
import { ask, canDo, readAnswer, type InputRequest, type ToolQuestion } from './tool-questions.ts';

const schema = { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] };
const form = { message: 'Sure?', schema };
const page = { message: 'Pay here', url: 'https://shop.example/pay' };
const roots = { method: 'roots/list', params: {} } as const;
const sampling = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 9 },
} as const;
const usingTools = { ...sampling, params: { ...sampling.params, tools: [] } };
const choosingTools = { ...sampling, params: { ...sampling.params, toolChoice: {} } };

const requestFor = (question: object) =>
  ask({ q: question as ToolQuestion }).requests['q'] as InputRequest;

describe('a question', () => {
  test('becomes a request for the client', () => {
    expect(requestFor(form)).toEqual({
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Sure?', requestedSchema: schema },
    });
    expect(requestFor(page)).toEqual({
      method: 'elicitation/create',
      params: { mode: 'url', ...page },
    });
    for (const each of [roots, sampling]) expect(requestFor(each)).toEqual(each);
  });

  test('is well-formed text', () => {
    const { params } = requestFor({ ...page, message: 'a\ud800' });
    expect(params['message']).toBe('a\ufffd');
  });

  test('may be about a page of this computer', () => {
    for (const url of ['http://localhost:3000/a', 'http://127.0.0.1/', 'https://10.0.0.1/'])
      expect(requestFor({ message: '', url }).params['url']).toBe(url);
  });

  test.each([
    { ...page, url: 'http://shop.example/pay' },
    { ...page, url: 'ftp://localhost/' },
    { ...page, url: 'shop.example' },
    { ...page, message: 7 },
    { url: page.url },
  ])('about a page needs a message and an https URL: %j', (question) => {
    expect(() => requestFor(question)).toThrow(
      new TypeError('The question q needs a message and the https URL of a page'),
    );
  });

  test.each([
    { message: 'Sure?' },
    { schema },
    { message: 7, schema },
    { message: 'Sure?', schema: { type: 'string' } },
    { message: 'Sure?', schema: { type: 'object', properties: { a: { type: 'object' } } } },
  ])('in a form must be one that MCP allows: %j', (question) => {
    expect(() => requestFor(question)).toThrow('does not describe a form that MCP allows');
  });

  test.each([
    { ...sampling, params: {} },
    { method: 'roots/list', params: { _meta: 1 } },
    { method: 'ping', params: {} },
  ])('for the client must be one of MCP: %j', (question) => {
    const problem = `The question q is not a valid ${question.method} request of MCP`;
    expect(() => requestFor(question)).toThrow(new TypeError(problem));
  });

  test.each(['', '1a', '-a', 'a b', 'ä', 'aä', `a${'b'.repeat(64)}`])(
    'cannot have the name %j',
    (name) => {
      expect(() => ask({ [name]: form })).toThrow(`The name of the question "${name}" must begin`);
    },
  );

  test('can have a name of 64 characters, and a state', () => {
    const name = `A${'z.-_9'.repeat(13)}`.slice(0, 64);
    expect(ask({ [name]: form, b: page }, { a: 1 })).toMatchObject({
      requests: { [name]: requestFor(form), b: requestFor(page) },
      state: { a: 1 },
    });
    expect(ask({ a: form }).state).toBe(null);
  });

  test('is needed', () => {
    expect(() => ask({})).toThrow(new TypeError('ask() needs at least one question'));
  });
});

describe('a client', () => {
  test.each([
    [{}, form, { elicitation: { form: {} } }],
    [{}, page, { elicitation: { url: {} } }],
    [{}, roots, { roots: {} }],
    [{}, sampling, { sampling: {} }],
    [{}, usingTools, { sampling: { tools: {} } }],
    [{ sampling: {} }, choosingTools, { sampling: { tools: {} } }],
    [{ elicitation: {} }, page, { elicitation: { url: {} } }],
    [{ elicitation: { url: {} } }, form, { elicitation: { form: {} } }],
    [{ elicitation: {} }, form, null],
    [{ elicitation: { form: {} } }, form, null],
    [{ elicitation: { form: {}, url: {} } }, form, null],
    [{ elicitation: { url: {} } }, page, null],
    [{ roots: {} }, roots, null],
    [{ sampling: {} }, sampling, null],
    [{ sampling: { tools: {} } }, usingTools, null],
  ])('that declares %j lacks for %j: %j', (declared, question, lacking) => {
    expect(ask({ q: question }).missing(declared)).toEqual(lacking);
  });

  test('is told everything that it lacks', () => {
    const all = ask({ a: form, b: page, c: roots, d: usingTools, e: sampling });
    expect(all.missing({})).toEqual({
      elicitation: { form: {}, url: {} },
      roots: {},
      sampling: { tools: {} },
    });
    expect(all.missing({ elicitation: {}, sampling: {} })).toEqual({
      elicitation: { url: {} },
      roots: {},
      sampling: { tools: {} },
    });
  });

  test('can show forms if it declares nothing else about questions', () => {
    expect(canDo({ elicitation: {} }, 'elicitation', 'form')).toBe(true);
    expect(canDo({ elicitation: {} }, 'elicitation', 'url')).toBe(false);
    expect(canDo({}, 'elicitation', 'form')).toBe(false);
  });
});

describe('an answer', () => {
  const answer = (question: object, sent: unknown) => readAnswer(requestFor(question), sent);

  test.each([
    [form, { action: 'accept', content: { sure: true } }, { sure: true }],
    [form, { action: 'accept', content: { sure: false, other: 'x' } }, { sure: false }],
    [form, { action: 'decline', content: { sure: true } }, {}],
    [form, { action: 'cancel' }, {}],
    [page, { action: 'accept', content: { sure: true } }, {}],
    [page, { action: 'cancel' }, {}],
  ])('to %j can be %j', (question, sent, content) => {
    expect(answer(question, sent)).toEqual({ action: sent.action, content });
  });

  test.each([
    [form, { action: 'accept', content: { sure: 'yes' } }],
    [form, { action: 'accept', content: {} }],
    [form, { action: 'accept' }],
    [form, { action: 'agree' }],
    [form, { action: 'accept', content: { sure: true, other: {} } }],
    [page, {}],
    [roots, { action: 'accept' }],
    [roots, { roots: [{}] }],
    [sampling, { roots: [] }],
    [sampling, null],
  ])('to %j cannot be %j', (question, sent) => {
    expect(answer(question, sent)).toBe(null);
  });

  test('to a question for the client is its whole result', () => {
    const listed = { roots: [{ uri: 'file:///a' }] };
    expect(answer(roots, listed)).toEqual({ action: 'accept', content: listed });
    const created = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi' } };
    expect(answer(sampling, created)).toEqual({ action: 'accept', content: created });
  });

  test('to a form without fields is empty', () => {
    const empty = { message: 'Sure?', schema: { type: 'object', properties: {} } };
    const sent = { action: 'accept', content: { toString: 'x' } };
    expect(answer(empty, sent)).toEqual({ action: 'accept', content: {} });
    expect(answer(empty, { action: 'accept' })).toEqual({ action: 'accept', content: {} });
  });
});
