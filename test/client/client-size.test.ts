import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

/** The part of vitest's bundler that this test uses. */
interface Bundler {
  build(options: object): Promise<{ output: { code?: string; imports: string[]; moduleIds: string[] }[] }>
}

/** Maximum compressed size of the main entry point, which each endpoint increases by about 20 bytes. */
const bytesMax = 15_250

async function bundle(entry: string) {
  const fromVitest = createRequire(import.meta.resolve('vitest/package.json'))
  const fromVite = createRequire(fromVitest.resolve('vite/package.json'))
  const { build } = (await import(fromVite.resolve('rolldown'))) as Bundler
  const specifier = `@skillstead/client${entry}`
  const { output } = await build({
    input: 'entry',
    plugins: [
      {
        name: 'entry',
        resolveId: (id: string) => (id === 'entry' ? `${import.meta.dirname}/entry.js` : null),
        load: (id: string) => (id.endsWith('/entry.js') ? `export * from '${specifier}'` : null),
      },
    ],
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'default'] },
    output: { minify: true, format: 'esm' },
    write: false,
    logLevel: 'silent',
  })
  const [chunk, ...others] = output
  expect(others).toEqual([])
  return { ...chunk!, code: chunk!.code!, gzipBytes: gzipSync(chunk!.code!, { level: 9 }).length }
}

describe('the client bundle for browsers', () => {
  it('is small, and contains no schemas, YAML parser or elliptic curves', async () => {
    const { code, gzipBytes, moduleIds } = await bundle('')
    expect(gzipBytes).toBeLessThan(bytesMax)
    expect(gzipBytes, 'the bundle holds something').toBeGreaterThan(3000)
    expect(moduleIds.filter((id) => /valibot|yaml|noble|schemas/.test(id))).toEqual([])
    expect(code).toContain('/skills/:name/load')
  })

  it.each(['', '/webhooks', '/verify'])(
    'of @skillstead/client%s imports no Node modules and no dependencies',
    async (entry) => {
      const { code, imports } = await bundle(entry)
      expect(imports).toEqual([])
      expect(code).not.toMatch(/["'`]node:/)
      expect(code).not.toMatch(/\brequire\(|\bprocess\.|\bBuffer\./)
    },
  )

  it('exports exactly the listed names, so that no release removes an export by accident', async () => {
    const names = await Promise.all(
      [import('@skillstead/client'), import('@skillstead/client/webhooks'), import('@skillstead/client/verify')].map(
        async (entry) => Object.keys(await entry).toSorted(),
      ),
    )
    expect(names).toEqual([
      ['RegistryError', 'createClient', 'createSkillClient', 'toTool'],
      ['WebhookError', 'createReceiver', 'createSeen'],
      [
        'VerificationError',
        'describeAlteration',
        'parseCheckpoint',
        'parseVerifierKey',
        'toContentDigest',
        'toLeafHash',
        'toVerifierKey',
        'verifyCheckpoint',
        'verifyConsistency',
        'verifyFiles',
        'verifyInclusion',
        'verifyNote',
        'verifyProvenance',
      ],
    ])
  })
})
