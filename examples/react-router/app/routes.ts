import { index, route, type RouteConfig } from '@react-router/dev/routes';

export default [
  index('routes/home.tsx'),
  route('login', 'routes/login.tsx'),
  route('api/orders', 'routes/orders.ts'),
  route('.well-known/*', 'routes/portico.ts', { id: 'portico-well-known' }),
  route('oauth/*', 'routes/portico.ts', { id: 'portico-oauth' }),
  route('mcp', 'routes/portico.ts', { id: 'portico-mcp' }),
] satisfies RouteConfig;
