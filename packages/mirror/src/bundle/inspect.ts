import { stat } from 'node:fs/promises'
import { type BundleHeader, damaged } from './format.ts'
import { readBundle } from './read.ts'

/** The header of a bundle, unverified. */
export interface InspectedBundle {
  readonly file: string
  /** Size of the file in bytes. */
  readonly size: number
  readonly header: BundleHeader
}

/** Reads only the beginning of a bundle. Throws `not_found`, `invalid_request`. */
export async function inspectBundle(file: string): Promise<InspectedBundle> {
  const parts = readBundle(file)
  try {
    const { value } = await parts.next()
    if (value?.kind !== 'header') throw damaged('it ends early')
    return { file, size: (await stat(file)).size, header: value.header }
  } finally {
    await parts.return(undefined)
  }
}
