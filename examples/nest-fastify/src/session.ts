import type {} from '@fastify/secure-session';

declare module '@fastify/secure-session' {
  interface SessionData {
    userId: number;
  }
}
