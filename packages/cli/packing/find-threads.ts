import type { Plugin } from 'rolldown'

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
