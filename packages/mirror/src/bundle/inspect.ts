import { stat } from 'node:fs/promises'
import { type BundleHeader, damaged } from './format.ts'
import { readBundle } from './read.ts'

/** What a bundle says of itself, of which nothing was checked. */
export interface InspectedBundle {
  readonly file: string
  /** Of the file. */
  readonly size: number
  readonly header: BundleHeader
}

/** Reads no more than the beginning of a bundle. Throws `not_found`, `invalid_request`. */
export async function inspectBundle(file: string): Promise<InspectedBundle> {
  const parts = readBundle(file)
  try {
    const { value } = await parts.next()
    if (value?.kind !== 'header') throw damaged('it ends too soon')
    return { file, size: (await stat(file)).size, header: value.header }
  } finally {
    await parts.return(undefined)
  }
}
