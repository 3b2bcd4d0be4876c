import { errorAnswer, TEXT, type Operations } from '../../endpoints/operation.ts';

export const logoOperations: Operations = {
  get: {
    summary: 'Get the logo of a client.',
    parameters: [
      { name: 'client_id', in: 'query', required: true, schema: TEXT },
      { name: 'v', in: 'query', required: true, description: 'The hash of the logo', schema: TEXT },
    ],
    responses: {
      200: { description: 'The picture.', content: { 'image/*': { schema: {} } } },
      404: errorAnswer('There is no such logo.'),
    },
  },
};
