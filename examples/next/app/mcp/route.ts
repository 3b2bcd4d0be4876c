import { handlers } from '../../lib/portico';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlers;
