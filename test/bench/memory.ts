import type { RegistryOptions } from '@skillstead/core'
import { startProcess } from './children.ts'
import type { Figure } from './figures.ts'
import { seededRandom, pick } from '../support/random.ts'
import { makeSkills, toQuery } from './synthetic.ts'

/** Bytes in use: objects of the main thread, its array buffers, and what the process has of the machine. */
export interface MemoryOf {
  readonly objects: number
  readonly buffers: number
  readonly resident: number
}

/** What a node has done up to a measurement, in this order. */
export type StageName = 'node' | 'code' | 'database' | 'index' | 'searches' | 'responses' | 'threads'

interface Measured {
  readonly stages: Readonly<Record<StageName, MemoryOf>>
  readonly pageCacheBytesMax: number
}

const abouts: Readonly<Record<StageName, string>> = {
  node: 'Node itself',
  code: 'the code of the registry and the server',
  database: 'an open database without an index, after a list',
  index: 'the index of all skills; the rest of resident is free memory of V8 and malloc, and pages of the database',
  searches: 'what searches leave behind',
  responses: 'cached responses, after the details of every skill',
  threads: 'worker threads, after eight publishes',
}
const queries = 200
const mebibyte = 1024 * 1024

/** Prints what each part of a node adds to its memory: what it was before is subtracted. */
export async function benchMemory(location: RegistryOptions, skills: number): Promise<Figure[]> {
  const random = seededRandom(3)
  const some = [...makeSkills(queries)]
  const words = Array.from({ length: queries }, () => toQuery(pick(random, some), random).query)
  const child = await startProcess<Measured>('./memory-child.ts', JSON.stringify({ location, words }))
  const { stages: measured, pageCacheBytesMax } = child.ready
  await child.stop()
  const part = `Memory with ${skills.toLocaleString('en')} skills`
  const stages = Object.entries(measured) as [StageName, MemoryOf][]
  const none: MemoryOf = { objects: 0, buffers: 0, resident: 0 }
  const rows = stages.map(([stage, now], i) => {
    const before = stages[i - 1]?.[1] ?? none
    const toMib = (of: keyof MemoryOf) => Math.round(((now[of] - before[of]) / mebibyte) * 10) / 10
    return { name: abouts[stage], objects: toMib('objects'), buffers: toMib('buffers'), resident: toMib('resident') }
  })
  console.log(`\n${part}: MiB that each part adds`)
  console.table(Object.fromEntries(rows.map(({ name, ...columns }) => [name, columns])))
  const total = stages.at(-1)![1].resident / mebibyte
  return [
    ...rows.map(({ name, objects, buffers, resident }): Figure => {
      return { part, name, value: resident, unit: 'MiB', note: `objects ${objects}, buffers ${buffers}` }
    }),
    { part, name: 'resident in all', value: total, unit: 'MiB' },
    { part, name: 'pages of one connection to SQLite, at most', value: pageCacheBytesMax / mebibyte, unit: 'MiB' },
  ]
}
