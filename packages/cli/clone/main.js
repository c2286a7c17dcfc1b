// The command of this clone. Plain JavaScript, as what it imports.
import { pathToFileURL } from 'node:url'
import { findProgram } from './program.js'

await import(pathToFileURL(findProgram()).href)
