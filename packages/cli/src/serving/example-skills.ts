import { type Registry, systemCaller } from '@skillstead/core'
import { createNamer, importVersion, partsOf } from '@skillstead/core/internal'
import { isUnreadable } from '@skillstead/skill-format/archives'
import { readExamples } from './example-files.ts'

/** The owner of the examples. This user has no key, so no one can sign in as it. */
const owner = 'skillstead'

/** Publishes the example skills and returns their full names. Existing skills are left unchanged. */
export async function publishExamples(registry: Registry): Promise<string[]> {
  const nameOf = createNamer(owner)
  const names: string[] = []
  for await (const item of readExamples()) {
    if (isUnreadable(item)) throw new Error(`The example ${item.id} cannot be read: ${item.reason}`)
    const { name } = nameOf(item)!
    const { fullName } = await importVersion(
      partsOf(registry),
      { owner, name, skillMd: item.skillMd, files: item.files },
      systemCaller,
    )
    names.push(fullName)
  }
  return names
}
