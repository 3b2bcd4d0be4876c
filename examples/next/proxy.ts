import { NextResponse } from 'next/server';

/**
 * A proxy that the application already had before Portico was added. It adds a header to the
 * responses. Because of the proxy, Next reads the body of each request once more.
 */
export function proxy() {
  const response = NextResponse.next();
  response.headers.set('X-Application', 'orders');
  return response;
}
