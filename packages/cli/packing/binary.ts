/** `pnpm build:binary`: builds `dist/skillstead`, a single executable that needs no Node, and prints its size. */
import { stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { buildBinary } from './binary/build-binary.ts'

const file = await buildBinary(join(import.meta.dirname, '../../../dist/skillstead'))
console.log(`Built ${relative(process.cwd(), file)}, ${((await stat(file)).size / 1e6).toFixed(1)} MB.`)
