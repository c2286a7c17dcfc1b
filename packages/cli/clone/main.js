// The command of this clone. Plain JavaScript, so that the cache of compiled code is on before the first TypeScript is
// loaded: Node then reads all types as stripped before, and never loads the compiler that strips them.
import module from 'node:module'
import { pathToFileURL } from 'node:url'

module.enableCompileCache?.()
const { findProgram } = await import('./program.ts')
await import(pathToFileURL(findProgram()).href)
