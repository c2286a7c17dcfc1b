import { fileURLToPath } from 'node:url'
import { scanFiles } from '@skillstead/scanner/rules'
import { fifthParaphrases } from './paraphrases/fifth.ts'
import { firstParaphrases } from './paraphrases/first.ts'
import { fourthParaphrases } from './paraphrases/fourth.ts'
import { secondParaphrases } from './paraphrases/second.ts'
import { thirdParaphrases } from './paraphrases/third.ts'
import type { Paraphrases } from './paraphrases/paraphrases.ts'
import { readLines, toRate, type TextFile } from './scan-samples.ts'

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

interface WholeSkill {
  readonly label: 'malicious' | 'benign'
  readonly category: string
  readonly files: readonly TextFile[]
}

/**
 * Skills whose authors knew no rule. The rules were changed after a look at those that were shown, two sets, so only
 * the unseen one estimates what they find elsewhere.
 */
export function readWholeSkills(set: 'shown' | 'unseen'): WholeSkill[] {
  return readLines(fileURLToPath(new URL(`../fixtures/paraphrases/${set}-skills.ndjson`, import.meta.url)))
}

/** Prints how many whole skills are found. */
export function printWholeSkills(): void {
  for (const set of ['shown', 'unseen'] as const) {
    const skills = readWholeSkills(set).map((skill) => ({ ...skill, verdict: scanFiles(skill.files, 0).verdict }))
    const groups = Object.entries(Object.groupBy(skills, ({ category }) => category))
    console.log(`\nWhole skills, the ${set} set`)
    console.table({
      malicious: toShares(skills.filter(({ label }) => label === 'malicious')),
      ...Object.fromEntries(groups.map(([category, all]) => [category, toShares(all!)])),
    })
  }
}

function toShares(all: readonly { readonly verdict: string }[]) {
  return {
    flagged: toRate(all.filter(({ verdict }) => verdict !== 'safe').length, all.length),
    dangerous: toRate(all.filter(({ verdict }) => verdict === 'dangerous').length, all.length),
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
