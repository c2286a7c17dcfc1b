// The command of this clone, in plain JavaScript like the modules that it imports.
import { pathToFileURL } from 'node:url'
import { findProgram } from './program.js'

await import(pathToFileURL(findProgram()).href)
