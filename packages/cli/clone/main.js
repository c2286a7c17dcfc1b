// The command of this clone. Plain JavaScript, so that the cache of compiled code is on before the first TypeScript is
// loaded: Node then reads all types as stripped before, and never loads the compiler that strips them.
import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// Who can write the cache can write the sources, too: Node runs what is in both. The next build removes it.
module.enableCompileCache?.(join(import.meta.dirname, '../.built/compiled'))
const { findProgram } = await import('./program.ts')
await import(pathToFileURL(findProgram()).href)
