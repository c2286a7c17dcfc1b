import type { Generated } from 'kysely'

/** What finds copies. */
export interface CopyTables {
  /** One a version, in the order in which they came; `shingles`: how many its body has, 0 for one too short. */
  version_sketches: { num: Generated<number>; version_id: string; shingles: number }
  /** Which skills have a shingle in any version, and the sketch of the first version that had it. */
  shared_shingles: { shingle: number; skill_num: number; sketch_num: number }
  /** Versions whose shingles are not among the shared ones yet. */
  waiting_sketches: { sketch_num: number; skill_num: number; shingles: Buffer }
}
