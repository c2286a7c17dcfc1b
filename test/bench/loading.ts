import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { guest, localApi, systemCaller } from '@skillstead/core'
import { truncate } from '@skillstead/skill-format/loading'
import { listenNode } from '@skillstead/server'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { getTokenCounter, type CountTokens } from '../../packages/core/src/catalogue/skills/truncate-skill.ts'
import { skillMd } from '../support/answers.ts'
import { loadDocument } from '../support/loading-documents.ts'
import { fromRows, type Figure } from './figures.ts'
import { median, quantile } from './statistics.ts'
import { openRegistry } from '../support/open-registry.ts'

const longCharacters = 200_000
const rounds = 200
const budgetsEach = 100
const progressMs = 5000

/**
 * Prints what truncating and loading take; with a corpus also whether each document, or every so-manyth, keeps to a
 * hundred budgets.
 */
export async function benchLoading(corpusDir?: string, every = 1): Promise<Figure[]> {
  const startMs = performance.now()
  const countTokens = await getTokenCounter()
  console.log(`\nLoading: the table of tokens is read in ${Math.round(performance.now() - startMs)} ms, once`)
  const long = makeLong()
  const loaded = loadDocument(long)
  const figures: Record<string, object> = {}
  for (const maxTokens of [2000, 10_000, 30_000]) {
    figures[`truncating 200 kB to ${maxTokens} tokens`] = await measure(() =>
      truncate(loaded, { maxTokens, countTokens }),
    )
  }
  const rows = { ...figures, ...(await measureLoads(long)) }
  console.table(rows)
  if (corpusDir) checkCorpus(corpusDir, countTokens, every)
  return fromRows('Loading within a budget', rows, { column: 'median ms', unit: 'ms' })
}

async function measureLoads(long: string): Promise<Record<string, object>> {
  const registry = await openRegistry({ path: ':memory:' })
  const { username } = await localApi(registry, systemCaller).createUser({ username: 'bench' })
  const owner = localApi(registry, await registry.getCaller(username))
  await owner.publishSkill({ skillMd: skillMd('usual', { body: long.slice(0, 6000) }) })
  await owner.publishSkill({ skillMd: skillMd('long', { body: long }) })
  const node = await listenNode(registry, { port: 0, host: '127.0.0.1', rates: 'off', logger: undefined })
  const api = localApi(registry, guest)
  const get = async (path: string) => void (await (await fetch(`${node.url}/api/v1/skills/bench%2F${path}`)).json())
  const figures = {
    'load in-process, full': await measure(() => api.loadSkill({ name: 'bench/usual' })),
    'load over loopback, metadata': await measure(() => get('usual/load?level=metadata')),
    'load over loopback, full': await measure(() => get('usual/load')),
    'load over loopback, 1,000 tokens': await measure(() => get('usual/load?maxTokens=1000')),
    'load over loopback, 200 kB to 2,000 tokens': await measure(() => get('long/load?maxTokens=2000')),
  }
  await node.close()
  await registry.close()
  return figures
}

async function measure(work: () => unknown): Promise<object> {
  const times: number[] = []
  // Of this process alone, where others share the machine.
  const before = process.cpuUsage()
  for (let round = 0; round < rounds + 20; round++) {
    const startMs = performance.now()
    await work()
    if (round >= 20) times.push(performance.now() - startMs)
  }
  const { user, system } = process.cpuUsage(before)
  const cpuMs = (user + system) / 1000 / (rounds + 20)
  return {
    'median ms': median(times).toFixed(2),
    'p90 ms': quantile(times, 0.9).toFixed(2),
    'CPU ms': cpuMs.toFixed(2),
  }
}

/** Sections of prose, lists, code and tables, with words that differ. */
function makeLong(): string {
  const words = 'read the file and write each table with care when rows are wide or empty then check totals'.split(' ')
  let text = '# Long\n\n'
  for (let part = 0; text.length < longCharacters; part++) {
    const prose = Array.from({ length: 60 }, (_, i) => words[(i * 7 + part * (i % 5)) % words.length]).join(' ')
    text += `## Part ${part}\n\n${prose}.\n\n- ${prose.slice(0, 80)}\n- ${prose.slice(90, 150)}\n\n`
    text += `\`\`\`ts\nconst part${part} = readRows('${part}.csv')\n\nawait write(part${part})\n\`\`\`\n\n| a | b |\n|---|---|\n| ${part} | ${part * 3} |\n\n`
  }
  return text.slice(0, longCharacters)
}

/** Every document, or every so-manyth, at a hundred budgets from the least to the whole; another program counts one of them. */
function checkCorpus(corpusDir: string, countTokens: CountTokens, every: number): void {
  const tiktoken = new Tiktoken(o200k)
  const lines = gunzipSync(readFileSync(join(corpusDir, 'open.ndjson.gz')))
    .toString()
    .trim()
    .split('\n')
  const chosen = lines.filter((_, index) => index % every === 0)
  const wrong: string[] = []
  let toldMs = performance.now()
  for (const [place, line] of chosen.entries()) {
    const count = countOnce(countTokens)
    const loaded = loadDocument(textOf(JSON.parse(line) as Record<string, unknown>))
    const whole = count(loaded.summary!) + count(loaded.fullContent!)
    for (let step = 0; step < budgetsEach; step++) {
      const maxTokens = Math.floor((whole * step) / budgetsEach)
      const { summary, fullContent } = truncate(loaded, { maxTokens, countTokens: count })
      const countText = step === place % budgetsEach ? (text: string) => tiktoken.encode(text, [], []).length : count
      const tokens = countText(summary!) + countText(fullContent!)
      if (tokens > maxTokens) wrong.push(`document ${place * every}: ${tokens} tokens at a budget of ${maxTokens}`)
    }
    if (performance.now() - toldMs < progressMs && place + 1 < chosen.length) continue
    toldMs = performance.now()
    console.error(`${place + 1} of ${chosen.length} documents, ${wrong.length} budgets exceeded`)
  }
  console.log(`${chosen.length} documents, ${chosen.length * budgetsEach} budgets, ${wrong.length} exceeded`)
  for (const line of wrong.slice(0, 10)) console.log(`  ${line}`)
}

/** Most texts of a document are counted at each of its budgets, which is what takes the time. */
function countOnce(countTokens: CountTokens): CountTokens {
  const counted = new Map<string, number>()
  return (text) => {
    const tokens = counted.get(text) ?? countTokens(text)
    counted.set(text, tokens)
    return tokens
  }
}

function textOf(row: Record<string, unknown>): string {
  const text = row.skillMd ?? row.content ?? row.text
  if (typeof text !== 'string')
    throw new Error(`A row of the corpus has no text; it has ${Object.keys(row).join(', ')}.`)
  return text
}
