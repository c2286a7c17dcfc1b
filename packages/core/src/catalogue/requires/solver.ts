import { setImmediate } from 'node:timers/promises'
import { limits, RegistryError } from '@skillstead/protocol'
import { parseVersionRange, type VersionRange } from '@skillstead/skill-format'
import { toMeantName } from '../versions/stored-requires.ts'
import type { Choosable, ChoosableVersion } from './look-up.ts'

/** A skill of the request. */
export interface Root {
  readonly name: string
  /** Default: the latest version. */
  readonly range?: VersionRange
}

/** A chosen version, with the requirements that led to the choice. */
export interface Choice {
  readonly skill: Choosable
  readonly version: ChoosableVersion
  /** The requirements, in the order in which they were found. */
  readonly edges: readonly Edge[]
}

/** A requirement of a chosen version, or a skill of the request. */
export interface Edge {
  /** The step whose version has the requirement; undefined for the request. */
  readonly from: Step | undefined
  /** A full name; in the request also a name without an owner. */
  readonly name: string
  /** The accepted versions; undefined for the latest version. */
  readonly range: VersionRange | undefined
  readonly isOptional: boolean
  /** The skill with the name; undefined before the look-up, null if there is no such skill. */
  skill: Choosable | null | undefined
}

/** A step of the search: a skill, its candidates and the one that is tried. */
interface Step {
  readonly skill: Choosable
  /** Candidates that are not tried yet, best first. */
  rest: ChoosableVersion[]
  version: ChoosableVersion
  /** The requirement that led to the step. */
  readonly edge: Edge
  readonly position: number
  /** The number of edges before this step, and the index of the edge that is read next. */
  readonly edgeCount: number
  readonly cursor: number
  /** Earlier steps that excluded candidates: if all candidates fail, the search returns to the last of these steps. */
  readonly blamed: Set<Step>
  /** Versions that were put off because a later requirement excludes them. */
  readonly putOff: Set<ChoosableVersion>
}

/** The maximum requirements of a resolution, and the maximum tests of a version against a range. */
const edgesMax = 10_000
const testsMax = 200_000
/** Tests between two yields to the event loop. */
const testsPerTurn = 2000

/** Finds skills by name. The result may contain more names than `wanted`. */
type LookUp = (wanted: readonly string[]) => Promise<ReadonlyMap<string, Choosable>>

/**
 * Chooses the highest version of each skill that satisfies all requirements, breadth first. Where a requirement
 * excludes a chosen version, the search goes back to the last step of the conflict and tries its next candidate
 * (conflict-directed backjumping). Iterative, so that a long chain takes no stack. Throws `conflict` with the chains
 * that lead to the conflict, `not_found` for a skill of the request, and `invalid_request` for too large a resolution.
 */
export async function solve(roots: readonly Root[], lookUp: LookUp): Promise<{ choices: Choice[]; edges: Edge[] }> {
  const search = new Search(lookUp)
  for (const { name, range } of roots)
    search.edges.push({ from: undefined, name, range, isOptional: false, skill: undefined })
  return search.run()
}

class Search {
  readonly edges: Edge[] = []
  readonly #lookUp: LookUp
  readonly #known = new Map<string, Choosable | null>()
  readonly #skills = new Map<string, Choosable>()
  readonly #steps: Step[] = []
  readonly #stepOf = new Map<Choosable, Step>()
  #cursor = 0
  #tests = 0
  #explanation: string | undefined

  constructor(lookUp: LookUp) {
    this.#lookUp = lookUp
  }

  async run(): Promise<{ choices: Choice[]; edges: Edge[] }> {
    let yieldAt = testsPerTurn
    while (this.#cursor < this.edges.length) {
      if (this.#tests > testsMax)
        throw toConflict(
          `The requirements allow too many combinations of versions. Require narrower ranges. ${this.#explanation ?? ''}`,
        )
      if (this.#tests > yieldAt) {
        yieldAt = this.#tests + testsPerTurn
        await setImmediate()
      }
      const edge = this.edges[this.#cursor]!
      if (edge.skill === undefined) await this.#lookUpPending()
      if (edge.skill) this.#satisfy(edge, edge.skill)
      else if (!edge.isOptional) throw toMissing(edge)
      this.#cursor += 1
    }
    const edgesOf = Map.groupBy(this.edges, ({ skill }) => skill)
    const choices = this.#steps.map(({ skill, version }) => ({ skill, version, edges: edgesOf.get(skill) ?? [] }))
    return { choices, edges: this.edges }
  }

  /** Looks up all names that are not known yet, with few queries for each level of the requirements. */
  async #lookUpPending(): Promise<void> {
    const pending = this.edges.slice(this.#cursor).filter(({ skill }) => skill === undefined)
    const wanted = new Set(pending.map(({ name }) => name).filter((name) => !this.#known.has(name)))
    if (this.#known.size + wanted.size > limits.resolveSkillsMax * 4) throw toTooLarge()
    const found = await this.#lookUp([...wanted])
    for (const name of wanted) this.#known.set(name, null)
    for (const [name, skill] of found) {
      // Several names may mean one skill.
      if (!this.#skills.has(skill.id)) this.#skills.set(skill.id, skill)
      this.#known.set(name, this.#skills.get(skill.id)!)
    }
    for (const edge of pending) edge.skill = this.#known.get(edge.name)
  }

  /** Chooses a version for an edge, or checks that the version already chosen for the skill satisfies the edge. */
  #satisfy(edge: Edge, skill: Choosable): void {
    const step = this.#stepOf.get(skill)
    if (!step) return this.#decide(edge, skill)
    if (this.#isIn(step.version, edge, skill)) return
    // Another version of the skill is tried before other versions of the skills that require it.
    if (!step.putOff.has(step.version) && step.rest.some((one) => this.#isIn(one, edge, skill))) {
      step.putOff.add(step.version)
      const rest = [...step.rest, step.version]
      step.rest = [
        ...rest.filter((one) => this.#isIn(one, edge, skill)),
        ...rest.filter((one) => !this.#isIn(one, edge, skill)),
      ]
      for (let at = edge.from; at; at = at.edge.from) {
        for (const one of [at, ...at.blamed]) if (one.position < step.position) step.blamed.add(one)
      }
      this.#goBack(step)
    } else {
      this.#explain(
        skill,
        this.edges.slice(0, this.#cursor + 1).filter((one) => one.skill === skill),
      )
      this.#backjump(new Set([step, ...toSteps([edge])]))
    }
  }

  #decide(edge: Edge, skill: Choosable): void {
    if (this.#steps.length >= limits.resolveSkillsMax) throw toTooLarge()
    const edges = this.edges.slice(this.#cursor).filter((one) => one.skill === skill)
    const candidates = skill.versions.filter((one) => edges.every((each) => this.#isIn(one, each, skill)))
    const [version, ...rest] = candidates
    if (!version) {
      this.#explain(skill, edges)
      return this.#backjump(new Set(toSteps(edges)))
    }
    const step: Step = {
      skill,
      rest,
      version,
      edge,
      position: this.#steps.length,
      edgeCount: this.edges.length,
      cursor: this.#cursor,
      blamed: new Set(toSteps(edges)),
      putOff: new Set(),
    }
    this.#steps.push(step)
    this.#stepOf.set(skill, step)
    this.#addRequirements(step)
  }

  #addRequirements(step: Step): void {
    for (const required of step.version.requires.skills) {
      const name = toMeantName(required.name, step.skill.owner)
      const range = parseVersionRange(required.range)
      const isOptional = required.optional === true
      // A skill's optional requirement of the skill itself has no effect.
      if (isOptional && name === step.skill.fullName) continue
      this.edges.push({ from: step, name, range, isOptional, skill: this.#known.get(name) })
    }
    if (this.edges.length > edgesMax) throw toTooLarge()
  }

  /** Tries the next candidate of the last blamed step. If none is left, blames steps that excluded its candidates. */
  #backjump(first: ReadonlySet<Step>): void {
    for (let blamed = first; ;) {
      const last = [...blamed].toSorted((a, b) => b.position - a.position)[0]
      if (!last) throw toConflict(this.#explanation ?? 'The requirements exclude each other.')
      for (const step of blamed) if (step !== last) last.blamed.add(step)
      if (last.rest.length > 0) return this.#goBack(last)
      this.#undo(last)
      this.#steps.pop()
      this.#stepOf.delete(last.skill)
      blamed = last.blamed
    }
  }

  #goBack(step: Step): void {
    this.#undo(step)
    const [version, ...rest] = step.rest
    step.version = version!
    step.rest = rest
    this.#addRequirements(step)
  }

  /** Removes the steps and edges that followed from a step. The step itself becomes the last step. */
  #undo(step: Step): void {
    for (const later of this.#steps.splice(step.position + 1)) this.#stepOf.delete(later.skill)
    this.edges.length = step.edgeCount
    this.#cursor = step.cursor
  }

  #isIn({ version, isOffered }: ChoosableVersion, { range, from }: Edge, { latest }: Choosable): boolean {
    this.#tests += 1
    if (!range) return version === latest
    // A yanked or recalled version is chosen only if the request names exactly this version.
    if (!isOffered && (from || range.text !== version)) return false
    return range.includes(version)
  }

  /**
   * Records a conflict for the error message, with only the ranges that exclude versions. If a version is in all
   * ranges, the version failed because of an earlier conflict, and that conflict stays recorded.
   */
  #explain(skill: Choosable, edges: readonly Edge[]): void {
    let left = skill.versions
    const excluding = edges.filter((edge) => {
      const before = left.length
      left = left.filter((one) => this.#isIn(one, edge, skill))
      return left.length < before
    })
    if (left.length === 0)
      this.#explanation = toExplanation(skill, excluding.length > 0 ? excluding : edges.slice(0, 1))
  }
}

function toSteps(edges: readonly Edge[]): Step[] {
  return edges.flatMap(({ from }) => from ?? [])
}

const listedMax = 5

function toExplanation(skill: Choosable, edges: readonly Edge[]): string {
  const ranges = [
    ...new Set(edges.map((edge) => `${edge.range?.text ?? 'the latest version'} (${describeCause(edge)})`)),
  ]
  const offered = skill.versions.filter(({ isOffered }) => isOffered).map(({ version }) => version)
  const withdrawn = skill.versions.filter(({ isOffered }) => !isOffered).map(({ version }) => version)
  const sentences = [
    `No version of ${skill.fullName} satisfies ${ranges.length === 1 ? 'its range' : 'all of its ranges'}: ${ranges.join(', ')}.`,
    offered.length > 0 ? `Offered versions: ${cut(offered)}.` : 'It has no version that is offered.',
    ...(withdrawn.length > 0 ? [`Yanked or recalled: ${cut(withdrawn)}.`] : []),
  ]
  return sentences.join(' ')
}

function cut(items: readonly string[]): string {
  const more = items.length - listedMax
  return more > 0 ? `${items.slice(0, listedMax).join(', ')} and ${more} more` : items.join(', ')
}

function describeCause({ from }: Edge): string {
  return from ? `required by ${toChain(from)}` : 'requested'
}

/** The requirements that led to a step, from the request on; the middle of a long chain is left out. */
function toChain(step: Step): string {
  const names: string[] = []
  for (let at: Step | undefined = step; at; at = at.edge.from)
    names.unshift(`${at.skill.fullName} ${at.version.version}`)
  const shown = names.length > 6 ? [...names.slice(0, 3), `${names.length - 5} more`, ...names.slice(-2)] : names
  return shown.join(' → ')
}

function toMissing({ name, from }: Edge): RegistryError {
  if (!from) return new RegistryError('not_found', `There is no skill '${name}' that you may see.`)
  const short = name.slice(name.indexOf('/') + 1)
  const isShort = from.version.requires.skills.some((one) => one.name === short)
  const owner = isShort ? ` Without an owner, '${short}' means a skill of ${from.skill.owner}.` : ''
  return toConflict(
    `There is no skill '${name}' that you may see, and ${toChain(from)} requires it.${owner} ` +
      'Install without what is required (--no-deps), or ask the author for a version that requires an existing owner/name.',
  )
}

export function toConflict(detail: string): RegistryError {
  return new RegistryError('conflict', detail.trim())
}

function toTooLarge(): RegistryError {
  const detail = `This needs more than ${limits.resolveSkillsMax} skills or ${edgesMax} requirements. Resolve fewer skills at once.`
  return new RegistryError('invalid_request', detail)
}
