import { jsonAnswer, objectOf, type Operations } from '../../endpoints/operation.ts';

export const liveOperations: Operations = {
  get: {
    summary: 'Ask whether the process is alive.',
    responses: {
      200: jsonAnswer('The process is alive.', objectOf({ status: { const: 'live' } }, ['status'])),
    },
  },
};

const READINESS = objectOf(
  {
    status: { enum: ['ready', 'not_ready', 'stopping'] },
    checks: { type: 'object', additionalProperties: { enum: ['ok', 'failing', 'unknown'] } },
  },
  ['status', 'checks'],
);

export const readyOperations: Operations = {
  get: {
    summary: 'Ask whether the process can receive requests.',
    responses: {
      200: jsonAnswer('The process can receive requests.', READINESS),
      503: jsonAnswer('The process cannot receive requests now.', READINESS),
    },
  },
};
