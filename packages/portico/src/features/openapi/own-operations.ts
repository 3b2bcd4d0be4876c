import { jsonAnswer, objectOf, TEXT, type Operations } from '../../endpoints/operation.ts';

export const openapiOperations: Operations = {
  get: {
    summary: 'Get this description.',
    responses: {
      200: jsonAnswer(
        'The description of the endpoints.',
        objectOf({ openapi: TEXT, info: { type: 'object' }, paths: { type: 'object' } }, [
          'openapi',
          'info',
          'paths',
        ]),
      ),
      304: { description: 'The description has not changed.' },
    },
  },
};
