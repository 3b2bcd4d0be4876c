import { content, ToolError, type ToolInterface } from 'portico/mcp';

/** The tools that the conformance suite calls, through our own ToolInterface. */

/** A picture of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** A sound of no length. */
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

const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;

export const FIXTURE_TOOLS: readonly ToolInterface[] = [
  fixture('test_simple_text', 'Answers a text', () => 'This is a simple text response for testing.'),
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
    for (const done of [0, 50, 100]) await call.progress(done, 100, `Completed step ${done} of 100`);
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
];
