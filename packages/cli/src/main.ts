#!/usr/bin/env node
import module from 'node:module'
import { dirname } from 'node:path'

await import('@skillstead/core/internal/check-node').catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
// Cache compiled code between starts: commands start in half the time and use less memory.
module.enableCompileCache?.()
const cache = module.getCompileCacheDir?.()
// Threads find the cache by the environment, and start in less than half the time.
if (cache !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(cache)
const { run } = await import('./run.ts')
const { processIo } = await import('./process-io.ts')
process.exitCode = await run(process.argv.slice(2), processIo)
