import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Plugin } from 'rolldown'

/** The worker threads in folders of packages, as entry points of a folder `threads`. */
export function listThreads(folders: readonly string[], cwd = '.'): Record<string, string> {
  const paths = folders.flatMap((folder) => globSync(`${folder}/src/**/*-worker.ts`, { cwd }))
  return Object.fromEntries(paths.map((path) => [`threads/${basename(path, '.ts')}`, join(cwd, path)]))
}

/** Points `new URL('./x-worker.ts', import.meta.url)` to the file in `dist/threads`. */
export function findThreads(): Plugin {
  return {
    name: 'find-threads',
    transform: (code) =>
      code.includes('-worker.ts')
        ? code.replaceAll(/new URL\('\.\/([a-z]+-worker)\.ts', import\.meta\.url\)/g, (_, name: string) => {
            return `new URL('./threads/${name}.js', import.meta.url)`
          })
        : null,
  }
}
