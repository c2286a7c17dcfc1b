import {
  type EndpointName,
  type endpoints,
  type MirrorStatus,
  type MirrorWrite,
  type Overview,
  type Parsed,
  RegistryError,
} from '@skillstead/protocol'

/** The skill that a call is about, as it named it. */
export interface WantedSkill {
  /** Full or short. */
  readonly name: string
  /** Where the call asks for one by its number. */
  readonly version?: string | undefined
}

/** How well an answer is known to be true. */
export interface Freshness {
  /** Since an upstream last vouched for it. */
  readonly ageSeconds: number
  /** Whether that was too long ago, or the last try to learn more failed. */
  readonly stale: boolean
}

/** What a registry asks of those it follows while it answers a call. The mirror attaches one; without it nothing is asked. */
export interface UpstreamPort {
  /**
   * Updates the local copy of a skill, or the lists if no skill is named. `mode` decides whether the caller waits for
   * it. Waits at most 2 s; errors of an upstream are not thrown.
   */
  freshen(wanted?: WantedSkill): Promise<void>
  /**
   * Fetches a skill or version that is missing here. Returns whether something was imported, so that the call is worth
   * repeating. Throws `upstream_failed`, `upstream_timeout` and `offline` if no upstream could be asked.
   */
  pull(wanted: WantedSkill): Promise<boolean>
  /** How fresh an answer about a skill is, or about lists where none is named; undefined for what is from here. */
  freshness(name?: string): Promise<Freshness | undefined>
}

/** What administrators see of what is followed, and do with it. Each throws `not_found` for an upstream that is not there. */
export interface UpstreamOperator {
  readonly mode: NonNullable<Overview['network']>
  list(): Promise<MirrorStatus[]>
  get(name: string): Promise<MirrorStatus>
  /** Throws `name_taken`, `invalid_request`. */
  add(input: Parsed<(typeof endpoints)['addMirror']>): Promise<MirrorStatus & { problem: string | null }>
  /** Throws `conflict` while something waits for it or a sync runs. */
  remove(name: string): Promise<void>
  /** Begins, and waits a moment for what fails at once. Throws `conflict`, `offline`. */
  sync(name: string, options: Pick<SyncInput, 'accept' | 'allowRemovals' | 'full' | 'key'>): Promise<MirrorStatus>
  listWrites(
    name: string,
    wanted: { states: readonly MirrorWrite['state'][]; offset: number; limit: number },
  ): Promise<{ writes: MirrorWrite[]; total: number }>
  /** Throws `not_found`, `conflict` for what is settled, `invalid_request` for what cannot take another name. */
  settleWrite(
    name: string,
    id: string,
    settlement: { action: 'retry' | 'drop' } | { action: 'rename'; newName: string },
  ): Promise<MirrorWrite>
}

type SyncInput = Parsed<(typeof endpoints)['syncMirror']>

/** The place where the mirror of a registry is attached once it follows somebody. */
export interface Upstreams {
  /** Undefined as long as nothing is followed. */
  readonly port: UpstreamPort | undefined
  attach(port: UpstreamPort | undefined): void
  /** Undefined where the registry has no mirror. */
  readonly operator: UpstreamOperator | undefined
  attachOperator(operator: UpstreamOperator | undefined): void
}

export function createUpstreams(): Upstreams {
  let port: UpstreamPort | undefined
  let operator: UpstreamOperator | undefined
  return {
    get port() {
      return port
    },
    attach: (attached) => void (port = attached),
    get operator() {
      return operator
    },
    attachOperator: (attached) => void (operator = attached),
  }
}

/**
 * The operations that read through to upstreams: of a `skill` by name, or of a `list`. Lists are served from local
 * data, so search queries never leave the node.
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
 * Performs an operation on a mirror. Immutable versions are read locally. Other data is updated first, and a missing
 * skill is fetched from the upstreams.
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
