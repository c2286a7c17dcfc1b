import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const dist = join(import.meta.dirname, '../../packages/dashboard/dist')

/** The bound for what the first page runs, compressed. */
export const firstPageBytesMax = 60_000

/** The scripts that a browser fetches before the first page shows anything, with their bytes as they are sent. */
export function readFirstPageScripts(): Map<string, number> {
  const page = readFileSync(join(dist, 'index.html'), 'utf8')
  const html = page.replaceAll(/<link [^>]*data-page=[^>]*>/g, '')
  const scripts = new Map<string, number>()
  const add = (path: string) => {
    if (scripts.has(path)) return
    const bytes = readFileSync(join(dist, 'assets', path))
    scripts.set(path, gzipSync(bytes, { level: 9 }).length)
    for (const [, imported] of bytes.toString().matchAll(/\b(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g))
      add(imported!)
  }
  for (const [, path] of html.matchAll(/(?:src|href)="\/assets\/([\w.-]+\.js)"/g)) add(path!)
  return scripts
}
