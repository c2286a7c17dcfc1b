import { localApi, systemCaller, type RegistryOptions } from '@skillstead/core'
import { importVersions, partsOf, type ImportedVersion } from '@skillstead/core/internal'
import { openRegistry } from '../support/open-registry.ts'
import { fromRows, type Figure } from './figures.ts'
import { median, quantile } from './statistics.ts'

const versionsOfEach = 5
const rounds = 50
const sizes = [200, 400]
/** The highest median for 200 skills, in ms. */
const most = 50

/**
 * Prints milliseconds of resolutions inside the process: of a skill that requires, directly and through others, so many
 * skills of five versions each; each skill requires up to three of those before it, by ranges.
 */
export async function benchResolve(title: string, location: RegistryOptions): Promise<Figure[]> {
  const registry = await openRegistry({ ...location, works: false, memorySkillsMax: 0 })
  await localApi(registry, systemCaller).createUser({ username: 'bench' })
  const items = Array.from({ length: sizes.at(-1)! }, (_, i) => listVersions(i)).flat()
  for (let at = 0; at < items.length; at += 100) {
    const stored = await importVersions(partsOf(registry), items.slice(at, at + 100), systemCaller)
    for (const { error } of stored) if (error) throw error
  }
  const api = localApi(registry)
  const rows: Record<string, object> = {}
  const figures: Figure[] = []
  for (const size of sizes) {
    const times: number[] = []
    for (let i = 0; i < rounds; i++) {
      const startMs = performance.now()
      const { skills } = await api.resolveSkills({ skills: [{ name: nameOf(size - 1) }] })
      times.push(performance.now() - startMs)
      if (skills.length !== size) throw new Error(`The resolution has ${skills.length} skills, not ${size}.`)
    }
    const name = `resolve ${size} skills`
    rows[name] = { median: median(times).toFixed(1), p99: quantile(times, 0.99).toFixed(1) }
    const [figure] = fromRows(
      `Requirements in-process, ${title}`,
      { [name]: rows[name]! },
      { column: 'median', unit: 'ms' },
    )
    figures.push(size === 200 ? { ...figure!, most } : figure!)
  }
  console.log(`\nRequirements in-process on ${title} (ms)`)
  console.table(rows)
  await registry.close()
  return figures
}

const nameOf = (i: number) => `bench-${i}`

function listVersions(index: number): ImportedVersion[] {
  // The one before, so that a resolution reaches all of them, and two from further back.
  const required = [...new Set([index - 1, Math.floor(index / 2), Math.floor(index / 3)])].filter(
    (i) => i >= 0 && i < index,
  )
  const requires =
    required.length > 0 ? `metadata:\n  requires: [${required.map((i) => `${nameOf(i)}@^1.1.0`).join(', ')}]\n` : ''
  return Array.from({ length: versionsOfEach }, (_, minor) => ({
    owner: 'bench',
    name: nameOf(index),
    version: `1.${minor}.0`,
    skillMd: `---\nname: ${nameOf(index)}\ndescription: Skill ${index}.\n${requires}---\n# Skill ${index}\n\nVersion ${minor}.\n`,
    files: [],
  }))
}
