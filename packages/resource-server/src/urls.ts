/**
 * Reads a URL of the API. Throws a TypeError that names the option if the URL is not http or https.
 * For example, this rejects `localhost:3000`, because it is a URL with the scheme `localhost`.
 */
export function readWebUrl(option: string, value: string): URL {
  const url = URL.parse(value);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw new TypeError(`${option}: must be a URL, such as https://api.example.com`);
}
