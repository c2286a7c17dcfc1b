/**
 * The URL of a service that the operator configured. `service` is its name in the error. Throws a TypeError for a
 * scheme other than http and https, and for a URL with credentials.
 */
export function parseServiceUrl(url: string, service: string): URL {
  const parsed = URL.parse(url)
  if (parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password) return parsed
  throw new TypeError(`The address of ${service} must begin with http:// or https://, without credentials.`)
}
