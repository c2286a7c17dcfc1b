/**
 * `pnpm build:binary`: builds `dist/skillstead`, a single executable that needs no Node, and prints its size and start
 * time.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { buildBinary } from './binary/build-binary.ts'
import { measureCompressed, measureStart, zstdLevel } from './binary/measure.ts'

const starts = 5
const file = await buildBinary(join(import.meta.dirname, '../../../dist/skillstead'))
const scratch = await mkdtemp(join(tmpdir(), 'skillstead-starts-'))
const tookMs: number[] = []
for (let i = 0; i < starts; i++) tookMs.push(await measureStart([file], join(scratch, 'data')))
await rm(scratch, { recursive: true })

const toMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
console.log(`Built ${relative(process.cwd(), file)}.`)
console.log(`  size         ${toMegabytes((await stat(file)).size)}`)
console.log(`  compressed   ${toMegabytes(await measureCompressed(file))} by zstd -${zstdLevel}`)
console.log(`  first start  ${tookMs[0]!.toFixed(0)} ms from the start to the first answer, in a new folder`)
console.log(`  later starts ${Math.min(...tookMs.slice(1)).toFixed(0)} ms at best of ${starts - 1}`)
