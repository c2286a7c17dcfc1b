import type { ExtensionCheck } from '@skillstead/core/internal'
import type { Check } from './finding.ts'

/** Converts a check of an extension to a check of the doctor. */
export function toCheck({ name, run }: ExtensionCheck): Check {
  return {
    name,
    async run({ database }, progress, faults) {
      const report = { progress, fault: (sentence: string) => faults.add(sentence) }
      const { sound, advice } = await run(database.read, report)
      return faults.toOutcome(sound, advice)
    },
  }
}
