import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { StaticFiles } from '@skillstead/server'

/** Folders of the built dashboard: in the published package, and in the workspace. */
const places = [join(import.meta.dirname, '../dashboard'), join(import.meta.dirname, '../../../dashboard/dist')]

/** The files of the dashboard; undefined if it was not built. */
export function findDashboard(): StaticFiles | undefined {
  const folder = places.find((place) => existsSync(join(place, 'index.html')))
  if (folder === undefined) return undefined
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(folder, path).replaceAll(sep, '/'), () => readFileSync(path)]),
  )
}
