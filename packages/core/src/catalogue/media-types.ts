/** Media types of published files. Anything that a browser could run as a page is served as plain bytes. */
const mediaTypes: Record<string, string> = {
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  py: 'text/plain; charset=utf-8',
  sh: 'text/plain; charset=utf-8',
  ts: 'text/plain; charset=utf-8',
  js: 'text/plain; charset=utf-8',
  yaml: 'text/plain; charset=utf-8',
  yml: 'text/plain; charset=utf-8',
  toml: 'text/plain; charset=utf-8',
  csv: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  zip: 'application/zip',
}

/** The media type of a file by its extension. */
export function toContentType(path: string): string {
  const dot = path.lastIndexOf('.')
  return mediaTypes[path.slice(dot + 1).toLowerCase()] ?? 'application/octet-stream'
}
