import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { expect } from 'vitest'

const require = createRequire(import.meta.url)
const schemas = join(dirname(require.resolve('@cyclonedx/cyclonedx-library/package.json')), 'res/schema')
const readSchema = (name: string) => JSON.parse(readFileSync(join(schemas, name), 'utf8'))

let validate: ReturnType<Ajv['compile']> | undefined

interface SbomComponent {
  readonly type: string
  readonly 'bom-ref': string
  readonly group?: string
  readonly name: string
  readonly version?: string
  readonly purl?: string
  readonly scope?: string
  readonly publisher?: string
  readonly licenses?: readonly object[]
  readonly hashes?: readonly object[]
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
  readonly components?: readonly SbomComponent[]
}

interface Sbom {
  readonly serialNumber: string
  readonly metadata: { readonly timestamp?: string; readonly component: SbomComponent }
  readonly components: readonly SbomComponent[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

/** Parses a bill of materials, and expects that it is valid by the official schema of CycloneDX 1.6. */
export function readSbom(text: string | Uint8Array): Sbom {
  const document: unknown = JSON.parse(Buffer.from(text).toString())
  validate ??= compile()
  validate(document)
  expect(validate.errors ?? []).toEqual([])
  return document as Sbom
}

/** The values of a property of a component. */
export function listFacts({ properties = [] }: SbomComponent, name: string): string[] {
  return properties.flatMap((one) => (one.name === `skillstead:${name}` ? [one.value] : []))
}

function compile() {
  const ajv = new Ajv({ strict: false, allErrors: true })
  // The types of the package are those of an ES module, and it is none.
  ;(formats as unknown as typeof formats.default)(ajv)
  for (const unknown of ['idn-email', 'iri-reference']) ajv.addFormat(unknown, true)
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'].map((one) => `${one}.SNAPSHOT.schema.json`))
    ajv.addSchema(readSchema(name), `http://cyclonedx.org/schema/${name}`)
  return ajv.compile(readSchema('bom-1.6.SNAPSHOT.schema.json'))
}
