import type { MirrorStatus, MirrorWrite, Overview, Parsed, endpoints } from '@skillstead/protocol'

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
   * Brings what the call is about, or lists where it names no skill, up to date: before it is answered, or behind the
   * answer, as the operator wants it. Waits for 2 s at most, and throws nothing that an upstream does.
   */
  freshen(wanted?: WantedSkill): Promise<void>
  /**
   * Looks for a skill that is not here, or a version of it. True where something came in, so that looking again helps.
   * Throws `upstream_failed`, `upstream_timeout` and `offline` where nobody knows whether there is one.
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
