/** Whether the host of a URL is this machine, so that requests to it cross no network. */
export function isLoopbackHost({ hostname }: Pick<URL, 'hostname'>): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
