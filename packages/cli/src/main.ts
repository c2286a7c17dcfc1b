#!/usr/bin/env node
import module from 'node:module'

// The database's addon is built for Node-API 10; an older Node would crash on it without a word.
if (Number(process.versions.napi) < 10) {
  console.error(`Skillstead needs Node 22.14 or later; this is Node ${process.versions.node}.`)
  process.exit(1)
}
// Compiled code is kept between starts: a command starts in half the time and takes less memory.
module.enableCompileCache?.()
const { run } = await import('./run.ts')
const { processIo } = await import('./process-io.ts')
process.exitCode = await run(process.argv.slice(2), processIo)
