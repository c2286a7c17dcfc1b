import {
  type EndpointName,
  type endpoints,
  type MirrorStatus,
  type MirrorWrite,
  type Overview,
  type Parsed,
  RegistryError,
} from '@skillstead/protocol'

/** The skill that a request reads, and the version if the request names one. */
export interface WantedSkill {
  /** Full or short name. */
  readonly name: string
  readonly version?: string | undefined
}

/** The age of data that comes from an upstream. */
export interface Freshness {
  /** Time since the upstream last confirmed the data. */
  readonly ageSeconds: number
  /** Whether the data is older than allowed, or the last attempt to update it failed. */
  readonly stale: boolean
}

/** Reads from upstreams during a request. Attached by a mirror; other registries have none. */
export interface UpstreamPort {
  /**
   * Updates the local copy of a skill, or the lists if no skill is named: before the response or after it, as the
   * operator configured. Waits at most 2 s. Never throws an upstream's error.
   */
  freshen(wanted?: WantedSkill): Promise<void>
  /**
   * Fetches a skill or version that is missing here. Returns whether something was imported, so that the call is worth
   * repeating. Throws `upstream_failed`, `upstream_timeout` and `offline` if no upstream could be asked.
   */
  pull(wanted: WantedSkill): Promise<boolean>
  /** The freshness of a skill, or of the lists if no skill is named; undefined for data of this registry. */
  freshness(name?: string): Promise<Freshness | undefined>
}

/** Lets administrators list and manage upstreams. The methods throw `not_found` for an unknown upstream. */
export interface UpstreamOperator {
  readonly mode: NonNullable<Overview['network']>
  list(): Promise<MirrorStatus[]>
  get(name: string): Promise<MirrorStatus>
  /** Adds an upstream. Throws `name_taken`, `invalid_request`. */
  add(input: Parsed<(typeof endpoints)['addMirror']>): Promise<MirrorStatus & { problem: string | null }>
  /** Removes an upstream. Throws `conflict` while writes to the upstream are pending or a sync runs. */
  remove(name: string): Promise<void>
  /** Starts a sync, and waits briefly to report an immediate failure. Throws `conflict`, `offline`. */
  sync(name: string, options: Pick<SyncInput, 'accept' | 'allowRemovals' | 'full' | 'key'>): Promise<MirrorStatus>
  listWrites(
    name: string,
    wanted: { states: readonly MirrorWrite['state'][]; offset: number; limit: number },
  ): Promise<{ writes: MirrorWrite[]; total: number }>
  /** Resolves a write. Throws `not_found`, `conflict` if it is completed, `invalid_request` if it cannot be renamed. */
  settleWrite(
    name: string,
    id: string,
    settlement: { action: 'retry' | 'drop' } | { action: 'rename'; newName: string },
  ): Promise<MirrorWrite>
}

type SyncInput = Parsed<(typeof endpoints)['syncMirror']>

/** Holds the parts that a mirror attaches to its registry. */
export interface Upstreams {
  /** Reads from upstreams; undefined while the registry has no upstreams. */
  readonly port: UpstreamPort | undefined
  attach(port: UpstreamPort | undefined): void
  /** Manages upstreams; undefined if the registry is not a mirror. */
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
 * The operations for which a mirror may ask its upstreams: reads of a `skill` by name, or of a `list`. Lists are served
 * from local data, so search queries never leave the node.
 */
const mirroredReads: Partial<Record<EndpointName, 'skill' | 'list'>> = {
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
  getSbom: 'skill',
  listEvaluations: 'skill',
  listReviews: 'skill',
  listAgentReviews: 'skill',
  listIssues: 'skill',
  forkSkill: 'skill',
  searchSkills: 'list',
  searchByNeed: 'list',
  suggest: 'list',
  listCategories: 'list',
  getTrending: 'list',
  heartbeat: 'list',
}

/** The mirrored skill that an operation reads, or none for lists; undefined for operations that never ask upstreams. */
export function toMirroredRead(name: EndpointName, input: unknown): { readonly wanted?: WantedSkill } | undefined {
  const kind = mirroredReads[name]
  if (kind === undefined) return undefined
  if (kind === 'list') return {}
  // `to` is the newer of the two versions that `diffSkill` compares.
  const { name: skill = '', version, to } = input as { name?: string; version?: string; to?: string }
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
  return read ? lookThrough(port, read.wanted, perform) : perform()
}

/** As {@link readThrough}, for reads that are not API operations. Without `wanted`, the read is of a list. */
export async function lookThrough<Result>(
  port: Pick<UpstreamPort, 'freshen' | 'pull'>,
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
