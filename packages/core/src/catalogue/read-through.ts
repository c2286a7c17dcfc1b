import { RegistryError, type EndpointName } from '@skillstead/protocol'
import type { UpstreamPort, WantedSkill } from './upstream-port.ts'

/**
 * The calls that look to the upstreams, and what they are about: a `skill` by its name, or a `list`, which is answered
 * from here: what somebody searches for never leaves the node.
 */
const reads: Partial<Record<EndpointName, 'skill' | 'list'>> = {
  getSkill: 'skill',
  getSkillMd: 'skill',
  getArchive: 'skill',
  getFile: 'skill',
  listVersions: 'skill',
  getVersion: 'skill',
  loadSkill: 'skill',
  diffSkill: 'skill',
  getSimilarity: 'skill',
  getProvenance: 'skill',
  listReviews: 'skill',
  listAgentReviews: 'skill',
  listIssues: 'skill',
  forkSkill: 'skill',
  searchSkills: 'list',
  suggest: 'list',
  listCategories: 'list',
  getTrending: 'list',
  heartbeat: 'list',
}

interface ReadInput {
  readonly name?: string
  readonly version?: string
  /** The newer one of two that are compared. */
  readonly to?: string
}

/** What a call reads of the skills that may be mirrored; undefined for all other calls. */
export function toMirroredRead(name: EndpointName, input: unknown): { readonly wanted?: WantedSkill } | undefined {
  const kind = reads[name]
  if (kind === undefined) return undefined
  if (kind === 'list') return {}
  const { name: skill = '', version, to } = input as ReadInput
  return { wanted: { name: skill, version: version ?? to } }
}

/**
 * Performs a call on a registry that follows others. What never changes is read without asking anybody; other things are
 * brought up to date first, or behind the answer; and what is not here is looked for upstream.
 */
export async function readThrough<Result>(
  port: UpstreamPort,
  { name, input }: { readonly name: EndpointName; readonly input: unknown },
  perform: () => Result | Promise<Result>,
): Promise<Result> {
  const read = toMirroredRead(name, input)
  if (!read) return perform()
  return lookThrough(port, read.wanted, perform)
}

/** As {@link readThrough}, for what reads a skill, or a list where none is named, and is none of the calls. */
export async function lookThrough<Result>(
  port: UpstreamPort,
  wanted: WantedSkill | undefined,
  perform: () => Result | Promise<Result>,
): Promise<Result> {
  if (wanted?.version === undefined) await port.freshen(wanted)
  if (!wanted) return perform()
  try {
    return await perform()
  } catch (error) {
    const isMiss = error instanceof RegistryError && error.code === 'not_found'
    if (!isMiss || !(await port.pull(wanted))) throw error
    return perform()
  }
}
