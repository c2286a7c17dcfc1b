import { scanFiles } from '@skillstead/scanner/rules'
import { fifthParaphrases } from './paraphrases/fifth.ts'
import { firstParaphrases } from './paraphrases/first.ts'
import { fourthParaphrases } from './paraphrases/fourth.ts'
import { secondParaphrases } from './paraphrases/second.ts'
import { thirdParaphrases } from './paraphrases/third.ts'
import type { Paraphrases } from './paraphrases/paraphrases.ts'
import { toRate } from './scan-samples.ts'

const sets = {
  first: firstParaphrases,
  second: secondParaphrases,
  third: thirdParaphrases,
  fourth: fourthParaphrases,
  fifth: fifthParaphrases,
}
const head = '---\nname: helper\ndescription: Helps with everyday tasks.\n---\n\n# Helper\n\n'

/** Prints how many sentences and commands are found that were written without regard to the rules. */
export function printParaphrases(): void {
  for (const [name, set] of Object.entries(sets)) {
    console.log(`\nThe ${name} set of paraphrases`)
    console.table(Object.fromEntries([...set, toTotal(set)].map((one) => [one.category, toRow(one)])))
  }
}

function toTotal(set: readonly Paraphrases[]): Paraphrases {
  const malicious = set.flatMap((one) => one.malicious)
  return { category: 'all', malicious, honest: set.flatMap((one) => one.honest) }
}

function toRow({ malicious, honest }: Paraphrases) {
  return {
    'malicious, flagged': toRate(malicious.filter(isFlagged).length, malicious.length),
    'honest, flagged': toRate(honest.filter(isFlagged).length, honest.length),
  }
}

function isFlagged(text: string): boolean {
  const skillMd = text.startsWith('---') ? text : `${head}${text}\n`
  return scanFiles([{ path: 'SKILL.md', text: skillMd }], 0).verdict !== 'safe'
}
