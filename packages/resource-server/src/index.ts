/**
 * Protects an API that runs in a separate process from the authorization server. To check a token,
 * this package sends a request to the authorization server's introspection endpoint (RFC 7662).
 */
export {
  expressGuard,
  fastifyGuard,
  honoGuard,
  tokenOf,
  type ExpressAnswer,
  type FastifyAnswer,
  type GuardedContext,
  type GuardedRequest,
} from './guards.ts';
export type { IntrospectedToken } from './introspection.ts';
export type {
  AuthenticationRequirement,
  DpopOptions,
  Refusal,
  RefusalReason,
  SentRequest,
} from './contract.ts';
export { createResourceServer, type ResourceServer, type ResourceServerOptions } from './server.ts';
