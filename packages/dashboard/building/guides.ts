import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Plugin } from 'vite'

const cwd = join(import.meta.dirname, '../../..')

/** Adds the guides of `docs/`, their pictures and the READMEs of the packages to the files of the dashboard. */
export function guidesPlugin(): Plugin {
  return {
    name: 'guides',
    generateBundle() {
      for (const path of globSync(['docs/*.{md,svg}', 'packages/*/README.md'], { cwd })) {
        const file = path.startsWith('docs') ? basename(path) : `packages-${basename(dirname(path))}.md`
        this.emitFile({ type: 'asset', fileName: `docs/guides/${file}`, source: readFileSync(join(cwd, path), 'utf8') })
      }
    },
  }
}
