import { deflateRawSync } from 'node:zlib'
import type { Plugin } from 'rolldown'

/** Replaces the table of the tokenizer by a compressed one, which takes half of the space. */
export function bakeTokens(): Plugin {
  return {
    name: 'bake-tokens',
    async load(id) {
      if (!id.endsWith('/bpeRanks/o200k_base.js')) return null
      const { default: ranks }: { default: unknown } = await import(id)
      const stored = deflateRawSync(JSON.stringify(ranks), { level: 9 }).toString('base64')
      return `import { inflateRawSync } from 'node:zlib'
        export default JSON.parse(inflateRawSync(Buffer.from(${JSON.stringify(stored)}, 'base64')).toString())`
    },
  }
}
