// The command of this clone, in plain JavaScript like the modules that it imports.
import { pathToFileURL } from 'node:url'
import { findProgram } from './program.js'

// pnpm passes on the `--` that npm users write, as in `pnpm start -- --port 80`.
const first = process.argv[2] === 'start' ? 3 : 2
if (process.argv[first] === '--') process.argv.splice(first, 1)

await import(pathToFileURL(findProgram()).href)
