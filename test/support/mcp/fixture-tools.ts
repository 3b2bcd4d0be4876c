import {
  ask,
  content,
  ToolError,
  type FormQuestion,
  type ToolCall,
  type ToolInterface,
} from '@portico/mcp';

/** The tools that the conformance suite calls. They use Portico's own ToolInterface. */

/** An image of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** A sound without any samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

type Handle = ToolInterface['handle'];

function fixture(
  name: string,
  description: string,
  handle: Handle,
  inputSchema: object = { type: 'object' },
) {
  return {
    name: () => name,
    description: () => description,
    inputSchema: () => inputSchema as Readonly<Record<string, unknown>>,
    handle,
  } satisfies ToolInterface;
}

/** Returns a form with one field. */
function form(message: string, field: string, type: 'string' | 'boolean' = 'string'): FormQuestion {
  return {
    message,
    schema: { type: 'object', properties: { [field]: { type } }, required: [field] },
  };
}

const SAMPLING = {
  method: 'sampling/createMessage',
  params: {
    messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
    maxTokens: 100,
  },
} as const;
const ROOTS = { method: 'roots/list', params: {} } as const;

const filledIn = (call: ToolCall, question: string, field: string) =>
  String(call.answer(question)?.content[field]);

/** The tools of the scenarios in which a tool first asks a question. */
const ASKING: readonly ToolInterface[] = [
  fixture('test_input_required_result_elicitation', 'Asks for a name', (_, call) =>
    call.answer('user_name') === null
      ? ask({ user_name: form('What is your name?', 'name') })
      : `Hello, ${filledIn(call, 'user_name', 'name')}!`,
  ),
  fixture('test_input_required_result_sampling', 'Asks the model', (_, call) =>
    call.answer('capital_question') === null
      ? ask({ capital_question: SAMPLING })
      : JSON.stringify(call.answer('capital_question')?.content),
  ),
  fixture('test_input_required_result_list_roots', 'Asks for the roots', (_, call) =>
    call.answer('client_roots') === null
      ? ask({ client_roots: ROOTS })
      : JSON.stringify(call.answer('client_roots')?.content),
  ),
  fixture('test_input_required_result_request_state', 'Keeps something while it asks', (_, call) =>
    call.answer('confirm') === null
      ? ask({ confirm: form('Please confirm', 'ok', 'boolean') }, 'ok')
      : `state-${String(call.state)}`,
  ),
  fixture('test_input_required_result_multiple_inputs', 'Asks three things at once', (_, call) =>
    ['user_name', 'greeting', 'client_roots'].every((question) => call.answer(question) !== null)
      ? 'Thank you.'
      : ask({
          user_name: form('What is your name?', 'name'),
          greeting: SAMPLING,
          client_roots: ROOTS,
        }),
  ),
  fixture('test_input_required_result_multi_round', 'Asks one thing after the other', (_, call) => {
    if (call.answer('step2') !== null)
      return `${String(call.state)}: ${filledIn(call, 'step2', 'color')}`;
    return call.answer('step1') === null
      ? ask({ step1: form('Step 1: What is your name?', 'name') })
      : ask(
          { step2: form('Step 2: What is your favorite color?', 'color') },
          filledIn(call, 'step1', 'name'),
        );
  }),
  fixture('test_input_required_result_tampered_state', 'Asks for a confirmation', (_, call) =>
    call.answer('confirm') === null
      ? ask({ confirm: form('Please confirm', 'ok', 'boolean') })
      : 'confirmed',
  ),
  fixture(
    'test_input_required_result_capabilities',
    'Asks what the client can answer',
    (_, call) => {
      if (call.answer('name') !== null || call.answer('sample') !== null) return 'Thank you.';
      return call.canAsk('form')
        ? ask({ name: form('What is your name?', 'name') })
        : ask({ sample: SAMPLING });
    },
  ),
  fixture('test_streaming_elicitation', 'Asks for a name', () =>
    ask({ name: form('What is your name?', 'name') }),
  ),
  fixture('test_logging_tool', 'Logs nothing to the client', () => 'done'),
  fixture('test_header_parameter', 'Has an argument that a header field repeats', () => 'done', {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  }),
  fixture('test_missing_capability', 'Asks the model, whoever calls', () =>
    ask({ sample: SAMPLING }),
  ),
];

const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;

export const FIXTURE_TOOLS: readonly ToolInterface[] = [
  fixture(
    'test_simple_text',
    'Answers a text',
    () => 'This is a simple text response for testing.',
  ),
  fixture('test_image_content', 'Answers a picture', () => content([image])),
  fixture('test_audio_content', 'Answers a sound', () =>
    content([{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]),
  ),
  fixture('test_embedded_resource', 'Answers an embedded resource', () =>
    content([
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ]),
  ),
  fixture('test_multiple_content_types', 'Answers a text, a picture and a resource', () =>
    content([
      { type: 'text', text: 'Multiple content types test:' },
      image,
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ]),
  ),
  fixture('test_tool_with_progress', 'Tells how far it has come', async (_, call) => {
    for (const done of [0, 50, 100])
      await call.progress(done, 100, `Completed step ${done} of 100`);
    return 'done';
  }),
  fixture('test_error_handling', 'Always fails', () => {
    throw new ToolError('This tool intentionally returns an error for testing');
  }),
  fixture('json_schema_2020_12_tool', 'Has a schema with the words of 2020-12', () => 'ok', {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  }),
  ...ASKING,
];
