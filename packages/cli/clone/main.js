// The command of this clone. Plain JavaScript, so that the cache of compiled code is on before the first TypeScript is
// loaded: Node then reads all types as stripped before, and never loads the compiler that strips them.
import module from 'node:module'

module.enableCompileCache?.()
await import('../src/main.ts')
