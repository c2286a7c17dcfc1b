import { hasOldTexts } from '@skillstead/core/internal'
import type { Check } from './finding.ts'
import { readTexts, repairText } from './skill-texts.ts'
import { findWrongTexts } from './text-drift.ts'

/** Compares the words of every skill in the full-text index with its row. */
export const textCheck: Check = {
  name: 'text',
  async run({ database }, report, faults) {
    if (await hasOldTexts(database.read))
      return { ok: true, detail: 'Some skills are not indexed again yet. A running node does so in the background.' }
    report('reading the full-text index')
    const { missing, wrong, strange, total } = await findWrongTexts(database, readTexts(database.read))
    for (const name of missing) faults.add(`${name} is not in the full-text index.`)
    for (const name of wrong) faults.add(`The full-text index and the row of ${name} differ.`)
    for (const num of strange) faults.add(`The full-text index has a skill ${num} that does not exist.`)
    return faults.toOutcome(`The full-text index has the words of all ${total} skills.`)
  },
  repair: repairText,
}
