import { NextResponse } from 'next/server';

/**
 * A proxy that the application had before. It adds a header to the responses. Next reads the body
 * of each request once more for it.
 */
export function proxy() {
  const response = NextResponse.next();
  response.headers.set('X-Application', 'orders');
  return response;
}
