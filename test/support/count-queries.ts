import type { Registry } from '@skillstead/core'
import { partsOf, withParts, withWrite } from '@skillstead/core/internal'
import type { KyselyPlugin } from 'kysely'

/** The same registry with a counter of queries. */
export function countQueries(registry: Registry) {
  let queries = 0
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      queries += 1
      return result
    },
  }
  const { read, writer, ...rest } = partsOf(registry).database
  const write: typeof writer.write = (work) => writer.write((trx) => work(trx.withPlugin(counter)))
  const database = { ...rest, read: read.withPlugin(counter), writer: withWrite(writer, write) }
  return { counted: withParts(registry, { database }), count: () => queries }
}
